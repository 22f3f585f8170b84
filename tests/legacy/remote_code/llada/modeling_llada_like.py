"""A model in the shape of those of 2025 around a module of another library; it ties by itself."""

import torch
import torch.nn.functional as F
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast
from transformers.models.auto import AutoModel

from .configuration_llada_like import TinyLLaDAConfig


class Inner(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.transformer = nn.ModuleDict({"wte": nn.Embedding(config.vocab_size, config.d_model)})
        self.transformer["blocks"] = nn.ModuleList(
            nn.Linear(config.d_model, 3 * config.d_model) for _ in range(config.n_layers)
        )
        if not config.weight_tying:
            self.transformer["ff_out"] = nn.Linear(config.d_model, config.vocab_size, bias=False)

    def forward(self, input_ids):
        states = self.transformer["wte"](input_ids)
        for block in self.transformer["blocks"]:
            query, key, value = block(states).chunk(3, dim=-1)
            states = states + F.scaled_dot_product_attention(query, key, value, is_causal=True)
        if self.config.weight_tying:
            return F.linear(states, self.transformer["wte"].weight)
        return self.transformer["ff_out"](states)


class TinyLLaDAModelLM(PreTrainedModel):
    config_class = TinyLLaDAConfig
    base_model_prefix = "model"
    _no_split_modules = ["LLaDABlock"]

    def __init__(self, config, model=None, init_params=False):
        super().__init__(config)
        self.model = Inner(config) if model is None else model

    def forward(
        self, input_ids=None, attention_mask=None, past_key_values=None, labels=None, use_cache=None,
        return_dict=None, cache_position=None,
    ):
        logits = self.model(input_ids)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        return CausalLMOutputWithPast(loss=loss, logits=logits)

    def can_generate(self):
        return True

    def prepare_inputs_for_generation(self, input_ids, past_key_values=None, **kwargs):
        return {"input_ids": input_ids, "past_key_values": past_key_values, "use_cache": kwargs.pop("use_cache", False)}

    def get_input_embeddings(self):
        return self.model.transformer["wte"]

    def set_input_embeddings(self, value):
        self.model.transformer["wte"] = value

    def get_output_embeddings(self):
        return self.model.transformer["wte"] if self.config.weight_tying else self.model.transformer["ff_out"]

    def tie_weights(self):
        if self.config.weight_tying and "ff_out" in self.model.transformer:
            self.model.transformer["ff_out"].weight = self.model.transformer["wte"].weight


AutoModel.register(TinyLLaDAConfig, TinyLLaDAModelLM)
