"""A model in the shape of those of 2024: positions by a table of functions, lengths of caches."""

import torch
import torch.nn.functional as F
from torch import nn
from transformers.cache_utils import Cache, DynamicCache
from transformers.generation import GenerationMixin
from transformers.modeling_outputs import CausalLMOutputWithPast
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.modeling_utils import PreTrainedModel
from transformers.utils import is_flash_attn_greater_or_equal_2_10
from transformers.utils.import_utils import is_torch_fx_available

from .configuration_phi_like import TinyPhiConfig

if is_torch_fx_available():
    torch.fx.wrap("len")
_IS_NEW_FLASH = is_flash_attn_greater_or_equal_2_10()


class TinyPhiRotaryEmbedding(nn.Module):
    def __init__(self, config, device=None):
        super().__init__()
        scaling = config.rope_scaling
        self.rope_type = (scaling or {}).get("rope_type", (scaling or {}).get("type", "default"))
        inv_freq, self.attention_scaling = ROPE_INIT_FUNCTIONS[self.rope_type](config, device)
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, positions):
        angles = positions[..., None].float() * self.inv_freq
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos() * self.attention_scaling, angles.sin() * self.attention_scaling


def rotated(states, cos, sin):
    first, second = states.chunk(2, dim=-1)
    return states * cos + torch.cat((-second, first), dim=-1) * sin


class TinyPhiPreTrainedModel(PreTrainedModel):
    config_class = TinyPhiConfig
    base_model_prefix = "model"
    _supports_cache_class = True
    _supports_sdpa = True
    _skip_keys_device_placement = "past_key_values"

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            module.weight.data.normal_(mean=0.0, std=0.02)


class TinyPhiForCausalLM(TinyPhiPreTrainedModel, GenerationMixin):
    _tied_weights_keys = ["lm_head.weight"]

    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.qkv = nn.ModuleList(
            nn.Linear(config.hidden_size, 3 * config.hidden_size)
            for _ in range(config.num_hidden_layers)
        )
        self.rotary_emb = TinyPhiRotaryEmbedding(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def get_input_embeddings(self):
        return self.embed_tokens

    def get_output_embeddings(self):
        return self.lm_head

    def forward(
        self,
        input_ids=None,
        attention_mask=None,
        position_ids=None,
        past_key_values=None,
        labels=None,
        use_cache=None,
        cache_position=None,
        return_dict=None,
    ):
        if use_cache and past_key_values is None:
            past_key_values = DynamicCache()
        past = past_key_values.get_seq_length() if past_key_values is not None else 0
        batch, length = input_ids.shape
        cos, sin = self.rotary_emb(torch.arange(past, past + length)[None])
        states = self.embed_tokens(input_ids)
        for number, qkv in enumerate(self.qkv):
            query, key, value = (
                part.view(batch, length, self.config.num_attention_heads, -1).transpose(1, 2)
                for part in qkv(states).chunk(3, dim=-1)
            )
            query, key = (
                rotated(query, cos[:, None], sin[:, None]),
                rotated(key, cos[:, None], sin[:, None]),
            )
            if past_key_values is not None:
                key, value = past_key_values.update(key, value, number)
            seen = torch.ones(length, past + length, dtype=torch.bool).tril(past)
            out = F.scaled_dot_product_attention(query, key, value, attn_mask=seen)
            states = states + out.transpose(1, 2).reshape(batch, length, -1)
        logits = self.lm_head(states)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        return CausalLMOutputWithPast(loss=loss, logits=logits, past_key_values=past_key_values)

    def prepare_inputs_for_generation(
        self, input_ids, past_key_values=None, attention_mask=None, inputs_embeds=None, **kwargs
    ):
        if past_key_values is not None:
            if isinstance(past_key_values, Cache):
                cache_length = past_key_values.get_seq_length()
                past_length = past_key_values.seen_tokens
                max_cache_length = past_key_values.get_max_length()
            else:
                cache_length = past_length = past_key_values[0][0].shape[2]
                max_cache_length = None
            if past_length < input_ids.shape[1]:
                input_ids = input_ids[:, past_length:]
            if (
                max_cache_length is not None
                and cache_length + input_ids.shape[1] > max_cache_length
            ):
                attention_mask = attention_mask[:, -max_cache_length:]
                raise ValueError("this cache has no limit")
        return {
            "input_ids": input_ids,
            "past_key_values": past_key_values,
            "use_cache": kwargs.get("use_cache"),
            "attention_mask": attention_mask,
        }
