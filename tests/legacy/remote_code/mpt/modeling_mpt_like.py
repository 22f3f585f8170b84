"""A model in the shape of those of 2023 with biases by distance, and one matrix for both ends."""

import math
from typing import List, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPast, CausalLMOutputWithPast

from .configuration_mpt_like import TinyMPTConfig


class SharedEmbedding(nn.Embedding):
    def forward(self, input, unembed=False):
        return F.linear(input, self.weight) if unembed else super().forward(input)


def build_alibi_bias(n_heads, seq_len, alibi_bias_max):
    bias = torch.arange(1 - seq_len, 1, dtype=torch.int32).view(1, 1, 1, seq_len)
    slopes = 1.0 / torch.pow(2, torch.arange(1, n_heads + 1) * (alibi_bias_max / n_heads))
    return bias * slopes.view(1, n_heads, 1, 1)


class TinyMPTBlock(nn.Module):
    def __init__(self, d_model, n_heads, expansion_ratio):
        super().__init__()
        self.n_heads = n_heads
        self.norm_1 = nn.LayerNorm(d_model)
        self.Wqkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
        self.norm_2 = nn.LayerNorm(d_model)
        self.up_proj = nn.Linear(d_model, expansion_ratio * d_model, bias=False)
        self.down_proj = nn.Linear(expansion_ratio * d_model, d_model, bias=False)
        self.out_proj._is_residual = True

    def forward(self, x, past_key_value=None, attn_bias=None):
        batch, length, width = x.shape
        query, key, value = self.Wqkv(self.norm_1(x)).chunk(3, dim=2)
        if past_key_value is not None:
            if len(past_key_value) != 0:
                key = torch.cat([past_key_value[0], key], dim=1)
                value = torch.cat([past_key_value[1], value], dim=1)
            past_key_value = (key, value)
        query, key, value = (
            part.view(batch, -1, self.n_heads, width // self.n_heads).transpose(1, 2) for part in (query, key, value)
        )
        weights = query @ key.transpose(2, 3) / math.sqrt(width // self.n_heads)
        weights = weights + attn_bias[:, :, :, -key.shape[2]:]
        seen = torch.ones(length, key.shape[2], dtype=torch.bool).tril(key.shape[2] - length)
        weights = weights.masked_fill(~seen, torch.finfo(weights.dtype).min)
        out = (weights.softmax(dim=-1) @ value).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out_proj(out)
        return x + self.down_proj(F.gelu(self.up_proj(self.norm_2(x)))), past_key_value


class TinyMPTPreTrainedModel(PreTrainedModel):
    config_class = TinyMPTConfig
    base_model_prefix = "model"
    _no_split_modules = ["MPTBlock"]


class TinyMPTModel(TinyMPTPreTrainedModel):
    def __init__(self, config: TinyMPTConfig):
        config._validate_config()
        super().__init__(config)
        self.alibi = config.attn_config["alibi"]
        self.alibi_bias_max = config.attn_config["alibi_bias_max"]
        self.wte = SharedEmbedding(config.vocab_size, config.d_model)
        self.blocks = nn.ModuleList(
            [TinyMPTBlock(config.d_model, config.n_heads, config.expansion_ratio) for _ in range(config.n_layers)]
        )
        self.norm_f = nn.LayerNorm(config.d_model)
        self._attn_bias_initialized = False
        self.attn_bias = torch.zeros((1, config.n_heads, 1, config.max_seq_len))
        self.apply(self.param_init_fn)

    def get_input_embeddings(self):
        return self.wte

    def set_input_embeddings(self, value):
        self.wte = value

    @torch.no_grad()
    def _attn_bias(self, device, dtype):
        if not self._attn_bias_initialized:
            config = self.config
            self.attn_bias = self.attn_bias.to(device=device, dtype=dtype)
            self.attn_bias = self.attn_bias + build_alibi_bias(config.n_heads, config.max_seq_len, self.alibi_bias_max)
            self._attn_bias_initialized = True
        return self.attn_bias

    def forward(
        self, input_ids: torch.LongTensor, past_key_values: Optional[List[Tuple[torch.FloatTensor]]] = None,
        attention_mask: Optional[torch.ByteTensor] = None, return_dict: Optional[bool] = None,
        use_cache: Optional[bool] = None,
    ):
        return_dict = return_dict if return_dict is not None else self.config.return_dict
        use_cache = use_cache if use_cache is not None else self.config.use_cache
        if past_key_values is not None:
            if len(past_key_values) != self.config.n_layers:
                raise ValueError(f"past_key_values has {len(past_key_values)} layers, not {self.config.n_layers}")
        if use_cache and past_key_values is None:
            past_key_values = [() for _ in range(self.config.n_layers)]
        x = self.wte(input_ids)
        attn_bias = self._attn_bias(device=x.device, dtype=x.dtype)
        for b_idx, block in enumerate(self.blocks):
            past_key_value = past_key_values[b_idx] if past_key_values is not None else None
            x, past_key_value = block(x, past_key_value=past_key_value, attn_bias=attn_bias)
            if past_key_values is not None:
                past_key_values[b_idx] = past_key_value
        return BaseModelOutputWithPast(last_hidden_state=self.norm_f(x), past_key_values=past_key_values)

    def param_init_fn(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
            if getattr(module, "_is_residual", False):
                module.weight.data.div_(math.sqrt(2 * self.config.n_layers))


class TinyMPTForCausalLM(TinyMPTPreTrainedModel):
    def __init__(self, config: TinyMPTConfig):
        super().__init__(config)
        if not config.tie_word_embeddings:
            raise ValueError("it only supports tied word embeddings")
        self.transformer = TinyMPTModel(config)
        for child in self.transformer.children():
            if isinstance(child, torch.nn.ModuleList):
                continue
            child._fsdp_wrap = True
        self.logit_scale = config.logit_scale

    def get_input_embeddings(self):
        return self.transformer.wte

    def set_input_embeddings(self, value):
        self.transformer.wte = value

    def get_output_embeddings(self):
        return self.transformer.wte

    def set_output_embeddings(self, new_embeddings):
        self.transformer.wte = new_embeddings

    def set_decoder(self, decoder):
        self.transformer = decoder

    def get_decoder(self):
        return self.transformer

    def forward(
        self, input_ids: torch.LongTensor, past_key_values: Optional[List[Tuple[torch.FloatTensor]]] = None,
        attention_mask: Optional[torch.ByteTensor] = None, labels: Optional[torch.LongTensor] = None,
        return_dict: Optional[bool] = None, use_cache: Optional[bool] = None,
    ):
        return_dict = return_dict if return_dict is not None else self.config.return_dict
        outputs = self.transformer(
            input_ids=input_ids, past_key_values=past_key_values, attention_mask=attention_mask,
            return_dict=return_dict, use_cache=use_cache,
        )
        logits = self.transformer.wte(outputs.last_hidden_state.to(self.transformer.wte.weight.device), True)
        loss = None
        if labels is not None:
            labels = torch.roll(labels, shifts=-1)
            labels[:, -1] = -100
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), labels.to(logits.device).view(-1))
        return CausalLMOutputWithPast(loss=loss, logits=logits, past_key_values=outputs.past_key_values)

    def prepare_inputs_for_generation(self, input_ids, past_key_values=None, inputs_embeds=None, **kwargs):
        if inputs_embeds is not None:
            raise NotImplementedError("inputs_embeds is not implemented yet")
        attention_mask = kwargs["attention_mask"].bool()
        if attention_mask[:, -1].sum() != attention_mask.shape[0]:
            raise NotImplementedError("it does not support generation with right padding.")
        if past_key_values is not None:
            input_ids = input_ids[:, -1].unsqueeze(-1)
        return {
            "input_ids": input_ids, "attention_mask": attention_mask, "past_key_values": past_key_values,
            "use_cache": kwargs.get("use_cache", True),
        }

    @staticmethod
    def _reorder_cache(past_key_values, beam_idx):
        return [tuple(state.index_select(0, beam_idx) for state in layer) for layer in past_key_values]
