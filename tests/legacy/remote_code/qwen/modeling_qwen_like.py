"""A model in the shape of those of 2023 with masks of heads, and positions in a plain attribute."""

import torch
import torch.nn.functional as F
from torch import nn
from transformers import GenerationConfig, PreTrainedTokenizer, StoppingCriteriaList
from transformers.generation.logits_process import LogitsProcessorList
from transformers.generation.utils import GenerateOutput
from transformers.modeling_outputs import BaseModelOutputWithPast, CausalLMOutputWithPast
from transformers.modeling_utils import PreTrainedModel
from transformers.utils import logging

from .configuration_qwen_like import TinyQWenConfig

logger = logging.get_logger(__name__)


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000):
        super().__init__()
        inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)
        self._rotary_pos_emb_cache = None

    def forward(self, length):
        if self._rotary_pos_emb_cache is None or self._rotary_pos_emb_cache[0].shape[0] < length:
            angles = torch.outer(torch.arange(length).float(), self.inv_freq)
            angles = torch.cat((angles, angles), dim=-1)
            self._rotary_pos_emb_cache = [angles.cos(), angles.sin()]
        return [part[:length] for part in self._rotary_pos_emb_cache]


def apply_rotary_pos_emb(states, cos, sin):
    first, second = states.chunk(2, dim=-1)
    return states * cos + torch.cat((-second, first), dim=-1) * sin


class TinyQWenPreTrainedModel(PreTrainedModel):
    config_class = TinyQWenConfig
    base_model_prefix = "transformer"
    is_parallelizable = False
    supports_gradient_checkpointing = True
    _no_split_modules = ["QWenBlock"]

    def __init__(self, *inputs, **kwargs):
        super().__init__(*inputs, **kwargs)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            module.weight.data.normal_(mean=0.0, std=0.02)

    def _set_gradient_checkpointing(self, module, value=False):
        if isinstance(module, TinyQWenModel):
            module.gradient_checkpointing = value


class TinyQWenModel(TinyQWenPreTrainedModel):
    _keys_to_ignore_on_load_missing = ["attn.masked_bias"]

    def __init__(self, config):
        super().__init__(config)
        self.wte = nn.Embedding(config.vocab_size, config.hidden_size)
        self.rotary_emb = RotaryEmbedding(config.hidden_size // config.num_attention_heads, config.rotary_emb_base)
        self.h = nn.ModuleList(
            [nn.Linear(config.hidden_size, 3 * config.hidden_size) for _ in range(config.num_hidden_layers)]
        )
        self.gradient_checkpointing = False
        self.post_init()

    def get_input_embeddings(self):
        return self.wte

    def set_input_embeddings(self, new_embeddings):
        self.wte = new_embeddings

    def forward(self, input_ids=None, past_key_values=None, head_mask=None, use_cache=None):
        use_cache = use_cache if use_cache is not None else self.config.use_cache
        batch, length = input_ids.shape
        past_length = 0
        if past_key_values is None:
            past_key_values = tuple([None] * len(self.h))
        else:
            past_length = past_key_values[0][0].size(-2)
        head_mask = self.get_head_mask(head_mask, self.config.num_hidden_layers)
        states = self.wte(input_ids)
        cos, sin = (part[past_length:] for part in self.rotary_emb(past_length + length))
        presents = () if use_cache else None
        for block, past, mask in zip(self.h, past_key_values, head_mask):
            assert mask is None
            query, key, value = (
                part.view(batch, length, self.config.num_attention_heads, -1).transpose(1, 2)
                for part in block(states).chunk(3, dim=-1)
            )
            query, key = apply_rotary_pos_emb(query, cos, sin), apply_rotary_pos_emb(key, cos, sin)
            if past is not None:
                key, value = torch.cat((past[0], key), dim=2), torch.cat((past[1], value), dim=2)
            if use_cache:
                presents = presents + ((key, value),)
            seen = torch.ones(length, key.shape[2], dtype=torch.bool).tril(past_length)
            out = F.scaled_dot_product_attention(query, key, value, attn_mask=seen)
            states = states + out.transpose(1, 2).reshape(batch, length, -1)
        return BaseModelOutputWithPast(last_hidden_state=states, past_key_values=presents)


class TinyQWenLMHeadModel(TinyQWenPreTrainedModel):
    _keys_to_ignore_on_load_missing = [r"h\.\d+\.attn\.rotary_emb\.inv_freq"]
    _keys_to_ignore_on_load_unexpected = [r"h\.\d+\.attn\.masked_bias"]

    def __init__(self, config):
        super().__init__(config)
        self.transformer = TinyQWenModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def get_output_embeddings(self):
        return self.lm_head

    def set_output_embeddings(self, new_embeddings):
        self.lm_head = new_embeddings

    def prepare_inputs_for_generation(self, input_ids, past_key_values=None, inputs_embeds=None, **kwargs):
        if past_key_values:
            input_ids = input_ids[:, -1].unsqueeze(-1)
        return {"input_ids": input_ids, "past_key_values": past_key_values, "use_cache": kwargs.get("use_cache")}

    def forward(
        self, input_ids=None, past_key_values=None, attention_mask=None, position_ids=None,
        head_mask=None, labels=None, use_cache=None, return_dict=None,
    ):
        outputs = self.transformer(input_ids, past_key_values, head_mask, use_cache)
        logits = self.lm_head(outputs.last_hidden_state)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        return CausalLMOutputWithPast(loss=loss, logits=logits, past_key_values=outputs.past_key_values)

    def generate(self, inputs=None, generation_config=None, stop_words_ids=None, **kwargs):
        generation_config = generation_config if generation_config is not None else self.generation_config
        return super().generate(inputs, generation_config=generation_config, **kwargs)
