"""A model in the shape of those of 2023 whose heads share keys; it folds the heads of its cache into the batch."""

import torch
from torch import nn
from torch.nn import CrossEntropyLoss
from torch.nn import functional as F
from transformers.modeling_outputs import (
    BaseModelOutputWithPastAndCrossAttentions,
    CausalLMOutputWithCrossAttentions,
)
from transformers.modeling_utils import PreTrainedModel
from transformers.utils import logging

from .configuration_falcon_like import TinyRWConfig

logger = logging.get_logger(__name__)


class RotaryEmbedding(nn.Module):
    def __init__(self, head_dim, base=10000):
        super().__init__()
        inv_freq = 1.0 / (base ** (torch.arange(0, head_dim, 2).float() / head_dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)
        self.seq_len_cached = None
        self.cos_cached = None
        self.sin_cached = None

    def cos_sin(self, seq_len):
        if seq_len != self.seq_len_cached:
            self.seq_len_cached = seq_len
            angles = torch.einsum("i,j->ij", torch.arange(seq_len).type_as(self.inv_freq), self.inv_freq)
            angles = torch.cat((angles, angles), dim=-1)
            self.cos_cached, self.sin_cached = angles.cos()[None], angles.sin()[None]
        return self.cos_cached, self.sin_cached

    def forward(self, states, past_length):
        cos, sin = (part[:, past_length:] for part in self.cos_sin(past_length + states.shape[1]))
        first, second = states.chunk(2, dim=-1)
        return states * cos + torch.cat((-second, first), dim=-1) * sin


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_heads = config.n_head
        self.head_dim = config.head_dim
        self.maybe_rotary = RotaryEmbedding(config.head_dim) if config.rotary else lambda states, past: states
        self.query_key_value = nn.Linear(config.hidden_size, config.hidden_size + 2 * config.head_dim, bias=False)
        self.dense = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        self.num_kv = 1

    def forward(self, hidden_states, attention_mask, layer_past=None, head_mask=None, use_cache=False):
        batch, length, width = hidden_states.shape
        fused = self.query_key_value(hidden_states).view(batch, length, self.num_heads + 2, self.head_dim)
        query, key, value = fused[..., :-2, :], fused[..., [-2], :], fused[..., [-1], :]
        query = query.transpose(1, 2).reshape(batch * self.num_heads, length, self.head_dim)
        key = key.transpose(1, 2).reshape(batch * self.num_kv, length, self.head_dim)
        value = value.transpose(1, 2).reshape(batch * self.num_kv, length, self.head_dim)
        past_length = 0 if layer_past is None else layer_past[0].shape[1]
        query, key = self.maybe_rotary(query, past_length), self.maybe_rotary(key, past_length)
        if layer_past is not None:
            key, value = torch.cat((layer_past[0], key), dim=1), torch.cat((layer_past[1], value), dim=1)
        present = (key, value) if use_cache else None
        out = F.scaled_dot_product_attention(
            query.view(batch, self.num_heads, length, -1), key.view(batch, self.num_kv, -1, self.head_dim),
            value.view(batch, self.num_kv, -1, self.head_dim), attn_mask=attention_mask,
        )
        return self.dense(out.transpose(1, 2).reshape(batch, length, width)), present


class TinyRWPreTrainedModel(PreTrainedModel):
    _keys_to_ignore_on_load_missing = [r"h.*.self_attention.scale_mask_softmax.causal_mask", r"lm_head.weight"]
    config_class = TinyRWConfig
    base_model_prefix = "transformer"
    supports_gradient_checkpointing = True
    _no_split_modules = ["DecoderLayer"]

    def __init__(self, *inputs, **kwargs):
        super().__init__(*inputs, **kwargs)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            module.weight.data.normal_(mean=0.0, std=0.02)

    @staticmethod
    def _convert_to_standard_cache(past_key_value, batch_size):
        return tuple(
            tuple(state.view(batch_size, -1, *state.shape[1:]) for state in layer_past) for layer_past in past_key_value
        )

    @staticmethod
    def _convert_to_rw_cache(past_key_value):
        return tuple(tuple(state.flatten(0, 1) for state in layer_past) for layer_past in past_key_value)


class TinyRWModel(TinyRWPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.h = nn.ModuleList([Attention(config) for _ in range(config.num_hidden_layers)])
        self.ln_f = nn.LayerNorm(config.hidden_size)
        self.gradient_checkpointing = False
        self.post_init()

    def get_input_embeddings(self):
        return self.word_embeddings

    def set_input_embeddings(self, new_embeddings):
        self.word_embeddings = new_embeddings

    def forward(
        self, input_ids=None, past_key_values=None, attention_mask=None, head_mask=None, use_cache=None,
        output_attentions=None, return_dict=None,
    ):
        output_attentions = output_attentions if output_attentions is not None else self.config.output_attentions
        use_cache = use_cache if use_cache is not None else self.config.use_cache
        return_dict = return_dict if return_dict is not None else self.config.use_return_dict
        if past_key_values is None:
            past_key_values = tuple([None] * len(self.h))
        head_mask = self.get_head_mask(head_mask, self.config.num_hidden_layers)
        past_length = past_key_values[0][0].shape[1] if past_key_values[0] is not None else 0
        batch_size, seq_length = input_ids.shape
        if attention_mask is None:
            attention_mask = torch.ones((batch_size, seq_length + past_length))
        causal = torch.ones(seq_length, seq_length + past_length, dtype=torch.bool).tril(past_length)
        seen = causal[None, None] & attention_mask[:, None, None].bool()
        hidden_states = self.word_embeddings(input_ids)
        presents = () if use_cache else None
        for i, (block, layer_past) in enumerate(zip(self.h, past_key_values)):
            output, present = block(hidden_states, seen, layer_past, head_mask[i], use_cache)
            hidden_states = hidden_states + output
            if use_cache is True:
                presents = presents + (present,)
        hidden_states = self.ln_f(hidden_states)
        if not return_dict:
            return tuple(v for v in [hidden_states, presents] if v is not None)
        return BaseModelOutputWithPastAndCrossAttentions(last_hidden_state=hidden_states, past_key_values=presents)


class TinyRWForCausalLM(TinyRWPreTrainedModel):
    _keys_to_ignore_on_load_missing = [r"h.*.self_attention.scale_mask_softmax.causal_mask", r"lm_head.weight"]
    _tied_weights_keys = ["lm_head.weight"]

    def __init__(self, config):
        super().__init__(config)
        self.transformer = TinyRWModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def get_output_embeddings(self):
        return self.lm_head

    def set_output_embeddings(self, new_embeddings):
        self.lm_head = new_embeddings

    def prepare_inputs_for_generation(self, input_ids, past=None, attention_mask=None, **kwargs):
        past = past if past is not None else kwargs.get("past_key_values")
        if past:
            input_ids = input_ids[:, -1].unsqueeze(-1)
            if past[0][0].shape[0] == input_ids.shape[0] and past[0][0].dim() == 4:
                past = self._convert_to_rw_cache(past)
        return {
            "input_ids": input_ids, "past_key_values": past, "use_cache": kwargs.get("use_cache"),
            "attention_mask": attention_mask,
        }

    def forward(
        self, input_ids=None, past_key_values=None, attention_mask=None, head_mask=None, labels=None, use_cache=None,
        output_attentions=None, return_dict=None, **deprecated_arguments,
    ):
        if len(deprecated_arguments) > 0:
            raise ValueError(f"Got unexpected arguments: {deprecated_arguments}")
        return_dict = return_dict if return_dict is not None else self.config.use_return_dict
        outputs = self.transformer(
            input_ids, past_key_values=past_key_values, attention_mask=attention_mask, head_mask=head_mask,
            use_cache=use_cache, output_attentions=output_attentions, return_dict=return_dict,
        )
        lm_logits = self.lm_head(outputs[0])
        loss = None
        if labels is not None:
            loss = CrossEntropyLoss()(lm_logits[..., :-1, :].flatten(0, 1), labels[..., 1:].flatten())
        return CausalLMOutputWithCrossAttentions(
            loss=loss, logits=lm_logits, past_key_values=outputs.past_key_values,
            hidden_states=outputs.hidden_states, attentions=outputs.attentions,
        )

    def _reorder_cache(self, past, beam_idx):
        standardized = self._convert_to_standard_cache(past, batch_size=len(beam_idx))
        reordered = tuple(tuple(s.index_select(0, beam_idx) for s in layer_past) for layer_past in standardized)
        return self._convert_to_rw_cache(reordered)
