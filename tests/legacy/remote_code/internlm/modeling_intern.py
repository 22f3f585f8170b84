"""A model in the shape of those of 2023: a list of tied weights, and a cache of tuples."""

import torch
import torch.nn.functional as F
from torch import nn
from transformers.cache_utils import Cache, DynamicCache
from transformers.modeling_outputs import BaseModelOutputWithPast, CausalLMOutputWithPast
from transformers.modeling_utils import PreTrainedModel
from transformers.utils import add_start_docstrings, add_start_docstrings_to_model_forward

from .configuration_intern import InternConfig

INTERN_INPUTS_DOCSTRING = "input_ids: the ids"


class InternAttention(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx
        self.num_heads = config.num_attention_heads
        self.wqkv = nn.Linear(config.hidden_size, 3 * config.hidden_size, bias=False)
        self.wo = nn.Linear(config.hidden_size, config.hidden_size, bias=False)

    def forward(self, hidden_states, past_key_value=None):
        batch, length, size = hidden_states.shape
        query, key, value = (
            part.view(batch, length, self.num_heads, -1).transpose(1, 2)
            for part in self.wqkv(hidden_states).chunk(3, dim=-1)
        )
        kv_seq_len = length
        if past_key_value is not None:
            kv_seq_len += past_key_value.get_usable_length(kv_seq_len, self.layer_idx)
            key, value = past_key_value.update(key, value, self.layer_idx, {})
        assert key.shape[2] == kv_seq_len
        seen = torch.ones(length, kv_seq_len, dtype=torch.bool).tril(kv_seq_len - length)
        out = F.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        return self.wo(out.transpose(1, 2).reshape(batch, length, size))


@add_start_docstrings("The bare model")
class InternPreTrainedModel(PreTrainedModel):
    config_class = InternConfig
    base_model_prefix = "model"
    supports_gradient_checkpointing = True
    _no_split_modules = ["InternAttention"]

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            module.weight.data.normal_(mean=0.0, std=0.02)

    def _set_gradient_checkpointing(self, module, value=False):
        if isinstance(module, InternModel):
            module.gradient_checkpointing = value


class InternModel(InternPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.tok_embeddings = nn.Embedding(
            config.vocab_size, config.hidden_size, config.pad_token_id
        )
        self.layers = nn.ModuleList(
            [InternAttention(config, number) for number in range(config.num_hidden_layers)]
        )
        self.gradient_checkpointing = False
        self.post_init()

    def get_input_embeddings(self):
        return self.tok_embeddings

    def set_input_embeddings(self, value):
        self.tok_embeddings = value

    @add_start_docstrings_to_model_forward(INTERN_INPUTS_DOCSTRING)
    def forward(self, input_ids=None, past_key_values=None, use_cache=None, return_dict=None):
        use_legacy_cache = False
        if use_cache:
            use_legacy_cache = not isinstance(past_key_values, Cache)
            if use_legacy_cache:
                past_key_values = DynamicCache.from_legacy_cache(past_key_values)
        hidden_states = self.tok_embeddings(input_ids)
        for layer in self.layers:
            hidden_states = hidden_states + layer(
                hidden_states, past_key_values if use_cache else None
            )
        next_cache = None
        if use_cache:
            next_cache = past_key_values.to_legacy_cache() if use_legacy_cache else past_key_values
        return BaseModelOutputWithPast(last_hidden_state=hidden_states, past_key_values=next_cache)


class InternModelForCausalLM(InternPreTrainedModel):
    _tied_weights_keys = ["output.weight"]

    def __init__(self, config):
        super().__init__(config)
        self.model = InternModel(config)
        self.output = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def get_input_embeddings(self):
        return self.model.tok_embeddings

    def get_output_embeddings(self):
        return self.output

    def set_output_embeddings(self, value):
        self.output = value

    def forward(
        self,
        input_ids=None,
        attention_mask=None,
        past_key_values=None,
        labels=None,
        use_cache=None,
        output_attentions=None,
        output_hidden_states=None,
        return_dict=None,
    ):
        use_cache = use_cache if use_cache is not None else self.config.use_cache and labels is None
        outputs = self.model(input_ids, past_key_values, use_cache)
        logits = self.output(outputs.last_hidden_state).float()
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        return CausalLMOutputWithPast(
            loss=loss, logits=logits, past_key_values=outputs.past_key_values
        )

    def prepare_inputs_for_generation(self, input_ids, past_key_values=None, **kwargs):
        if past_key_values is not None:
            if isinstance(past_key_values, Cache):
                past_length = past_key_values.seen_tokens
            else:
                past_length = past_key_values[0][0].shape[2]
            input_ids = input_ids[:, past_length:]
        return {
            "input_ids": input_ids,
            "past_key_values": past_key_values,
            "use_cache": kwargs.get("use_cache"),
        }

    @staticmethod
    def _reorder_cache(past_key_values, beam_idx):
        return tuple(
            tuple(state.index_select(0, beam_idx) for state in layer) for layer in past_key_values
        )
