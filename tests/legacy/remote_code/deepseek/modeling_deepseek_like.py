"""A model in the shape of those of 2024 with experts, and positions in buffers of its own."""

import warnings

import torch
import torch.nn.functional as F
from torch import nn
from transformers.cache_utils import Cache, DynamicCache
from transformers.modeling_attn_mask_utils import _prepare_4d_causal_attention_mask
from transformers.modeling_outputs import CausalLMOutputWithPast
from transformers.modeling_utils import PreTrainedModel
from transformers.pytorch_utils import ALL_LAYERNORM_LAYERS, is_torch_greater_or_equal_than_1_13
from transformers.utils import is_flash_attn_2_available, replace_return_docstrings
from transformers.utils.import_utils import is_torch_fx_available

from .configuration_deepseek_like import TinyDeepseekConfig

if is_flash_attn_2_available():
    warnings.warn("flash attention is there")
if is_torch_fx_available():
    if not is_torch_greater_or_equal_than_1_13:
        import torch.fx
    _prepare_4d_causal_attention_mask = torch.fx.wrap(_prepare_4d_causal_attention_mask)
_CONFIG_FOR_DOC = "TinyDeepseekConfig"


class TinyDeepseekRMSNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, states):
        return (
            self.weight
            * states
            * torch.rsqrt(states.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
        )


ALL_LAYERNORM_LAYERS.append(TinyDeepseekRMSNorm)


class TinyDeepseekRotaryEmbedding(nn.Module):
    def __init__(self, dim, max_position_embeddings=2048, base=10000, device=None):
        super().__init__()
        inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2).float().to(device) / dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)
        self._set_cos_sin_cache(
            max_position_embeddings, self.inv_freq.device, torch.get_default_dtype()
        )

    def _set_cos_sin_cache(self, seq_len, device, dtype):
        self.max_seq_len_cached = seq_len
        angles = torch.outer(
            torch.arange(seq_len, device=device, dtype=self.inv_freq.dtype), self.inv_freq
        )
        angles = torch.cat((angles, angles), dim=-1)
        self.register_buffer("cos_cached", angles.cos().to(dtype), persistent=False)
        self.register_buffer("sin_cached", angles.sin().to(dtype), persistent=False)

    def forward(self, value, seq_len):
        return self.cos_cached[:seq_len].to(value.dtype), self.sin_cached[:seq_len].to(value.dtype)


def apply_rotary_pos_emb(states, cos, sin, position_ids):
    cos, sin = cos[position_ids].unsqueeze(1), sin[position_ids].unsqueeze(1)
    first, second = states.chunk(2, dim=-1)
    return states * cos + torch.cat((-second, first), dim=-1) * sin


class TinyDeepseekMoE(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.top_k = config.num_experts_per_tok
        self.gate = nn.Linear(config.hidden_size, config.n_routed_experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Linear(config.hidden_size, config.hidden_size)
            for _ in range(config.n_routed_experts)
        )

    def forward(self, states):
        weights, chosen = self.gate(states).softmax(dim=-1).topk(self.top_k, dim=-1)
        out = torch.zeros_like(states)
        for number, expert in enumerate(self.experts):
            share = (weights * (chosen == number)).sum(dim=-1, keepdim=True)
            out = out + share * expert(states)
        return out


class TinyDeepseekLayer(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.layer_idx, self.num_heads = layer_idx, config.num_attention_heads
        self.norm = TinyDeepseekRMSNorm(config.hidden_size)
        self.qkv = nn.Linear(config.hidden_size, 3 * config.hidden_size, bias=False)
        self.mlp = TinyDeepseekMoE(config)
        self.rotary_emb = TinyDeepseekRotaryEmbedding(
            config.hidden_size // config.num_attention_heads,
            max_position_embeddings=config.max_position_embeddings,
            base=config.rope_theta,
        )

    def forward(self, states, attention_mask, position_ids, past_key_value):
        batch, length, _ = states.shape
        query, key, value = (
            part.view(batch, length, self.num_heads, -1).transpose(1, 2)
            for part in self.qkv(self.norm(states)).chunk(3, dim=-1)
        )
        kv_seq_len = key.shape[-2]
        if past_key_value is not None:
            kv_seq_len += past_key_value.get_usable_length(kv_seq_len, self.layer_idx)
        cos, sin = self.rotary_emb(value, seq_len=kv_seq_len)
        query = apply_rotary_pos_emb(query, cos, sin, position_ids)
        key = apply_rotary_pos_emb(key, cos, sin, position_ids)
        if past_key_value is not None:
            key, value = past_key_value.update(key, value, self.layer_idx, {"sin": sin, "cos": cos})
        out = F.scaled_dot_product_attention(query, key, value, attn_mask=attention_mask)
        states = states + out.transpose(1, 2).reshape(batch, length, -1)
        return states + self.mlp(states)


class TinyDeepseekPreTrainedModel(PreTrainedModel):
    config_class = TinyDeepseekConfig
    base_model_prefix = "model"
    supports_gradient_checkpointing = True
    _no_split_modules = ["TinyDeepseekLayer"]
    _skip_keys_device_placement = "past_key_values"
    _supports_flash_attn_2 = True
    _supports_cache_class = True

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            module.weight.data.normal_(mean=0.0, std=0.02)


class TinyDeepseekForCausalLM(TinyDeepseekPreTrainedModel):
    _tied_weights_keys = ["lm_head.weight"]

    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size, config.pad_token_id)
        self.layers = nn.ModuleList(
            [TinyDeepseekLayer(config, number) for number in range(config.num_hidden_layers)]
        )
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def get_input_embeddings(self):
        return self.embed_tokens

    def get_output_embeddings(self):
        return self.lm_head

    @replace_return_docstrings(output_type=CausalLMOutputWithPast, config_class=_CONFIG_FOR_DOC)
    def forward(
        self,
        input_ids=None,
        attention_mask=None,
        position_ids=None,
        past_key_values=None,
        labels=None,
        use_cache=None,
        return_dict=None,
    ):
        r"""
        Returns:
        """
        batch, length = input_ids.shape
        past_length, use_legacy_cache = 0, False
        if use_cache:
            use_legacy_cache = not isinstance(past_key_values, Cache)
            if use_legacy_cache:
                past_key_values = DynamicCache.from_legacy_cache(past_key_values)
            past_length = past_key_values.get_usable_length(length)
        if position_ids is None:
            position_ids = torch.arange(past_length, length + past_length).unsqueeze(0)
        states = self.embed_tokens(input_ids)
        mask = _prepare_4d_causal_attention_mask(
            attention_mask, (batch, length), states, past_length
        )
        for layer in self.layers:
            states = layer(states, mask, position_ids, past_key_values if use_cache else None)
        logits = self.lm_head(states).float()
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        if use_cache and use_legacy_cache:
            past_key_values = past_key_values.to_legacy_cache()
        return CausalLMOutputWithPast(
            loss=loss, logits=logits, past_key_values=past_key_values if use_cache else None
        )

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
            if attention_mask is not None and attention_mask.shape[1] > input_ids.shape[1]:
                input_ids = input_ids[:, -(attention_mask.shape[1] - past_length) :]
            elif past_length < input_ids.shape[1]:
                input_ids = input_ids[:, past_length:]
            if (
                max_cache_length is not None
                and attention_mask is not None
                and cache_length + input_ids.shape[1] > max_cache_length
            ):
                attention_mask = attention_mask[:, -max_cache_length:]
        position_ids = kwargs.get("position_ids")
        if attention_mask is not None and position_ids is None:
            position_ids = attention_mask.long().cumsum(-1) - 1
            position_ids.masked_fill_(attention_mask == 0, 1)
            if past_key_values:
                position_ids = position_ids[:, -input_ids.shape[1] :]
        return {
            "input_ids": input_ids,
            "position_ids": position_ids,
            "past_key_values": past_key_values,
            "use_cache": kwargs.get("use_cache"),
            "attention_mask": attention_mask,
        }
