"""A model in the shape of those of 2023 with a mask of slopes that is no weight, and its own head."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast
from transformers.utils import ContextManagers

from .configuration_baichuan_like import TinyBaichuanConfig


def slopes(heads):
    return torch.tensor([2 ** (-8 * (number + 1) / heads) for number in range(heads)])


class NormHead(nn.Module):
    def __init__(self, hidden_size, vocab_size, bias=False):
        super().__init__()
        self.weight = nn.Parameter(torch.empty((vocab_size, hidden_size)))
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        self.first_flag = True

    def forward(self, states):
        if self.training:
            weight = F.normalize(self.weight)
            self.first_flag = True
        elif self.first_flag:
            self.first_flag = False
            self.weight.data = F.normalize(self.weight)
            weight = self.weight
        else:
            weight = self.weight
        return F.linear(states, weight)


class BaichuanPreTrainedModel(PreTrainedModel):
    config_class = TinyBaichuanConfig
    base_model_prefix = "model"
    supports_gradient_checkpointing = True
    _no_split_modules = ["BaichuanLayer"]
    _keys_to_ignore_on_load_unexpected = [r"decoder\.version"]

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            module.weight.data.normal_(mean=0.0, std=0.02)


class TinyBaichuanForCausalLM(BaichuanPreTrainedModel):
    def __init__(self, config, *model_args, **model_kwargs):
        super().__init__(config, *model_args, **model_kwargs)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size, config.pad_token_id)
        self.layers = nn.ModuleList(
            [nn.Linear(config.hidden_size, 3 * config.hidden_size, bias=False) for _ in range(config.num_hidden_layers)]
        )
        self.max_cache_pos = config.model_max_length
        self.register_buffer("future_mask", self.get_alibi_mask(self.max_cache_pos), persistent=False)
        self.lm_head = NormHead(config.hidden_size, config.vocab_size)
        self.post_init()

    def get_alibi_mask(self, length):
        ahead = torch.full((length, length), float("-inf")).triu(1)
        distance = torch.arange(length)[None].float() * slopes(self.config.num_attention_heads)[:, None]
        return ahead[None] + distance[:, None]

    def get_input_embeddings(self):
        return self.embed_tokens

    def get_output_embeddings(self):
        return self.lm_head

    def forward(
        self, input_ids=None, attention_mask=None, past_key_values=None, labels=None, use_cache=False,
        return_dict=None, **kwargs,
    ):
        batch, length = input_ids.shape
        past = past_key_values[0][0].shape[2] if past_key_values is not None else 0
        mask = self.future_mask[:, past : past + length, : past + length]
        states = self.embed_tokens(input_ids)
        presents = () if use_cache else None
        for number, layer in enumerate(self.layers):
            query, key, value = (
                part.view(batch, length, self.config.num_attention_heads, -1).transpose(1, 2)
                for part in layer(states).chunk(3, dim=-1)
            )
            if past_key_values is not None:
                key = torch.cat([past_key_values[number][0], key], dim=2)
                value = torch.cat([past_key_values[number][1], value], dim=2)
            if use_cache:
                presents += ((key, value),)
            out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
            states = states + out.transpose(1, 2).reshape(batch, length, -1)
        logits = self.lm_head(states)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        return CausalLMOutputWithPast(loss=loss, logits=logits, past_key_values=presents)

    def prepare_inputs_for_generation(self, input_ids, past_key_values=None, attention_mask=None, **kwargs):
        if past_key_values:
            input_ids = input_ids[:, -1:]
        return {"input_ids": input_ids, "past_key_values": past_key_values, "use_cache": kwargs.get("use_cache")}

    @staticmethod
    def _reorder_cache(past_key_values, beam_idx):
        return tuple(tuple(state.index_select(0, beam_idx) for state in layer) for layer in past_key_values)
