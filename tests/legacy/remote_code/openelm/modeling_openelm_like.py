"""A model in the shape of those of 2024 with layers of several widths, masks from a buffer, and a static cache."""

from typing import List, Optional, Tuple, Union

import torch
from torch import Tensor, nn
from torch.nn import CrossEntropyLoss
from torch.nn import functional as F
from transformers import PreTrainedModel
from transformers.activations import ACT2FN
from transformers.cache_utils import Cache, DynamicCache, StaticCache
from transformers.modeling_outputs import BaseModelOutputWithPast, CausalLMOutputWithPast
from transformers.utils import logging

from .configuration_openelm_like import TinyElmConfig

logger = logging.get_logger(__name__)


class RotaryEmbedding(nn.Module):
    def __init__(self, model_dim, max_seq_length, freq_constant=10000):
        inv_freq = 1.0 / (freq_constant ** (torch.arange(0, model_dim, 2, dtype=torch.float32) / model_dim))
        super().__init__()
        self.max_seq_length = max_seq_length
        self.register_buffer("inv_freq", inv_freq, persistent=False)
        self._cached_cos = None
        self._cached_sin = None
        self._cached_seq_length = 0
        self._compute_sin_cos_embeddings(max_seq_length)

    def _compute_sin_cos_embeddings(self, key_len, key_device=torch.device("cpu"), key_dtype=torch.float32):
        if key_len > self._cached_seq_length or self._cached_cos is None or self._cached_cos.device != key_device:
            self._cached_seq_length = max(key_len, self._cached_seq_length)
            positions = torch.arange(self._cached_seq_length, dtype=torch.float32, device=self.inv_freq.device)
            emb = torch.einsum("i,j->ij", positions, self.inv_freq)
            emb = torch.cat((emb, emb), dim=-1)
            self._cached_cos = emb.cos().to(dtype=key_dtype, device=key_device)[None, None]
            self._cached_sin = emb.sin().to(dtype=key_dtype, device=key_device)[None, None]

    def _rotate(self, x, begin, end):
        first, second = x.chunk(2, dim=-1)
        turned = torch.cat((-second, first), dim=-1)
        return x * self._cached_cos[:, :, begin:end] + turned * self._cached_sin[:, :, begin:end]

    def forward(self, query, key) -> Tuple[Tensor, Tensor]:
        key_len, query_len = key.shape[2], query.shape[2]
        self._compute_sin_cos_embeddings(key_len, key.device, key.dtype)
        return self._rotate(query, key_len - query_len, key_len), self._rotate(key, 0, key_len)


class TinyElmDecoderLayer(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx
        self.head_dim = config.head_dim
        self.num_q_heads = config.num_query_heads[layer_idx]
        self.num_k_heads = self.num_v_heads = config.num_kv_heads[layer_idx]
        self.num_groups = self.num_q_heads // self.num_k_heads
        heads = self.num_q_heads + 2 * self.num_k_heads
        self.qkv_proj = nn.Linear(config.model_dim, heads * config.head_dim, bias=False)
        self.pos_embedding = RotaryEmbedding(config.head_dim, config.max_context_length, config.rope_freq_constant)
        self.out_proj = nn.Linear(self.num_q_heads * config.head_dim, config.model_dim, bias=False)
        self.act = ACT2FN["swish"]

    def forward(self, hidden_states, attention_mask=None, past_key_value=None, use_cache=False, cache_position=None):
        batch, length, _ = hidden_states.shape
        qkv = self.qkv_proj(hidden_states).reshape(batch, length, -1, self.head_dim).transpose(1, 2)
        queries, keys, values = qkv.split([self.num_q_heads, self.num_k_heads, self.num_v_heads], dim=1)
        past_key_value = getattr(self, "past_key_value", past_key_value)
        if past_key_value is not None:
            keys, values = past_key_value.update(keys, values, self.layer_idx, {"cache_position": cache_position})
        queries, keys = self.pos_embedding(queries, keys)
        if self.num_groups != 1:
            keys, values = (part.repeat_interleave(self.num_groups, dim=1) for part in (keys, values))
        causal_mask = attention_mask
        if attention_mask is not None and cache_position is not None:
            causal_mask = causal_mask[:, :, cache_position, : keys.shape[-2]]
        out = F.scaled_dot_product_attention(queries, keys, values, attn_mask=causal_mask)
        out = out.transpose(1, 2).reshape(batch, length, -1)
        return hidden_states + self.act(self.out_proj(out)), past_key_value


class TinyElmPreTrainedModel(PreTrainedModel):
    config_class = TinyElmConfig
    base_model_prefix = "transformer"
    supports_gradient_checkpointing = True
    _no_split_modules = ["TinyElmDecoderLayer"]
    _skip_keys_device_placement = "past_key_values"

    def __init__(self, *inputs, **kwargs) -> None:
        super().__init__(*inputs, **kwargs)

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, (nn.Linear, nn.Embedding)):
            module.weight.data.normal_(mean=0.0, std=0.02)


class TinyElmModel(TinyElmPreTrainedModel):
    config_class = TinyElmConfig

    def __init__(self, config: TinyElmConfig):
        super().__init__(config)
        self.config = config
        self.token_embeddings = nn.Embedding(config.vocab_size, config.model_dim)
        self.layers = nn.ModuleList(
            TinyElmDecoderLayer(config, layer_idx) for layer_idx in range(config.num_transformer_layers)
        )
        self.norm = nn.LayerNorm(config.model_dim)
        if config.share_input_output_layers:
            self.classifier = None
        else:
            self.classifier = nn.Linear(config.model_dim, config.vocab_size, bias=False)
        self.num_transformer_layers = config.num_transformer_layers
        self.gradient_checkpointing = False
        causal_mask = torch.full((config.max_context_length, config.max_context_length), True, dtype=torch.bool)
        self.register_buffer("causal_mask", torch.triu(causal_mask, diagonal=1), persistent=False)
        self.post_init()

    def get_input_embeddings(self):
        return self.token_embeddings

    def set_input_embeddings(self, new_embeddings: torch.Tensor):
        self.token_embeddings = new_embeddings

    def forward(
        self, input_ids: torch.LongTensor = None, attention_mask: Optional[torch.Tensor] = None,
        position_ids: Optional[torch.LongTensor] = None, past_key_values: Optional[List[torch.FloatTensor]] = None,
        use_cache: Optional[bool] = None, return_dict: Optional[bool] = None,
        cache_position: Optional[torch.LongTensor] = None,
    ) -> Union[Tuple, BaseModelOutputWithPast]:
        use_cache = use_cache if use_cache is not None else self.config.use_cache
        return_dict = return_dict if return_dict is not None else self.config.use_return_dict
        inputs_embeds = self.token_embeddings(input_ids)
        past_seen_tokens = 0
        if use_cache:
            if not isinstance(past_key_values, StaticCache):
                past_key_values = DynamicCache.from_legacy_cache(past_key_values)
            past_seen_tokens = past_key_values.get_seq_length()
        if cache_position is None:
            cache_position = torch.arange(past_seen_tokens, past_seen_tokens + inputs_embeds.shape[1])
        if position_ids is None:
            position_ids = cache_position.unsqueeze(0)
        causal_mask = self._update_causal_mask(attention_mask, inputs_embeds)
        hidden_states = inputs_embeds
        next_decoder_cache = None
        for decoder_layer in self.layers:
            hidden_states, layer_cache = decoder_layer(
                hidden_states, attention_mask=causal_mask, past_key_value=past_key_values, use_cache=use_cache,
                cache_position=cache_position,
            )
            if use_cache:
                next_decoder_cache = layer_cache
        hidden_states = self.norm(hidden_states)
        next_cache = None
        if use_cache:
            is_cache = isinstance(next_decoder_cache, Cache)
            next_cache = next_decoder_cache.to_legacy_cache() if is_cache else next_decoder_cache
        if not return_dict:
            return tuple(v for v in [hidden_states, next_cache] if v is not None)
        return BaseModelOutputWithPast(last_hidden_state=hidden_states, past_key_values=next_cache)

    def _update_causal_mask(self, attention_mask, input_tensor):
        if self.config._attn_implementation == "flash_attention_2":
            return attention_mask
        dtype = input_tensor.dtype
        min_dtype = torch.finfo(dtype).min
        causal_mask = self.causal_mask[None, None, :, :].repeat(input_tensor.shape[0], 1, 1, 1).to(dtype) * min_dtype
        if attention_mask is not None and attention_mask.dim() == 2:
            mask_length = attention_mask.shape[-1]
            hidden = causal_mask[..., :mask_length].eq(0.0) * attention_mask[:, None, None, :].eq(0.0)
            causal_mask[..., :mask_length] = causal_mask[..., :mask_length].masked_fill(hidden, min_dtype)
        return causal_mask


class TinyElmForCausalLM(TinyElmPreTrainedModel):
    _tied_weights_keys = ["lm_head.weight"]

    def __init__(self, config: TinyElmConfig):
        super().__init__(config)
        self.transformer = TinyElmModel(config)
        self.vocab_size = config.vocab_size
        if config.share_input_output_layers:
            self.lm_head = None
        else:
            self.lm_head = nn.Linear(config.model_dim, config.vocab_size, bias=False)
        self.post_init()

    def get_input_embeddings(self):
        return self.transformer.token_embeddings

    def set_input_embeddings(self, value):
        self.transformer.token_embeddings = value

    def get_output_embeddings(self):
        return self.lm_head if self.lm_head is not None else self.transformer.token_embeddings

    def set_output_embeddings(self, new_embeddings):
        self.lm_head = new_embeddings

    def forward(
        self, input_ids: torch.LongTensor = None, attention_mask: Optional[torch.Tensor] = None,
        position_ids: Optional[torch.LongTensor] = None, past_key_values: Optional[List[torch.FloatTensor]] = None,
        labels: Optional[torch.LongTensor] = None, use_cache: Optional[bool] = None,
        return_dict: Optional[bool] = None, cache_position: Optional[torch.LongTensor] = None,
    ) -> Union[Tuple, CausalLMOutputWithPast]:
        return_dict = return_dict if return_dict is not None else self.config.use_return_dict
        outputs = self.transformer(
            input_ids=input_ids, attention_mask=attention_mask, position_ids=position_ids,
            past_key_values=past_key_values, use_cache=use_cache, return_dict=return_dict,
            cache_position=cache_position,
        )
        if self.lm_head is None:
            logits = F.linear(outputs[0], weight=self.transformer.token_embeddings.weight)
        else:
            logits = self.lm_head(outputs[0])
        loss = None
        if labels is not None:
            loss = CrossEntropyLoss()(logits[..., :-1, :].flatten(0, 1), labels[..., 1:].flatten())
        return CausalLMOutputWithPast(loss=loss, logits=logits, past_key_values=outputs.past_key_values)

    def prepare_inputs_for_generation(
        self, input_ids, past_key_values=None, attention_mask=None, inputs_embeds=None, **kwargs
    ):
        past_length = 0
        if past_key_values is not None:
            if isinstance(past_key_values, Cache):
                cache_length = past_key_values.get_seq_length()
                past_length = past_key_values.seen_tokens
                max_cache_length = past_key_values.get_max_length()
            else:
                cache_length = past_length = past_key_values[0][0].shape[2]
                max_cache_length = None
            if attention_mask is not None and attention_mask.shape[1] > input_ids.shape[1]:
                input_ids = input_ids[:, -(attention_mask.shape[1] - past_length):]
            elif past_length < input_ids.shape[1]:
                input_ids = input_ids[:, past_length:]
            if max_cache_length is not None and cache_length + input_ids.shape[1] > max_cache_length:
                attention_mask = attention_mask[:, -max_cache_length:]
        position_ids = kwargs.get("position_ids", None)
        if attention_mask is not None and position_ids is None:
            position_ids = attention_mask.long().cumsum(-1) - 1
            position_ids.masked_fill_(attention_mask == 0, 1)
            if past_key_values:
                position_ids = position_ids[:, -input_ids.shape[1]:]
        cache_position = torch.arange(past_length, past_length + position_ids.shape[-1], device=position_ids.device)
        return {
            "input_ids": input_ids.contiguous(), "position_ids": position_ids, "cache_position": cache_position,
            "past_key_values": past_key_values, "use_cache": kwargs.get("use_cache"), "attention_mask": attention_mask,
        }
