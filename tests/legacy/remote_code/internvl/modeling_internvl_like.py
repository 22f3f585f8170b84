"""A model in the shape of those of 2024 around a model of the library, and one for images."""

import torch
from torch import nn
from transformers import AutoModel, GenerationConfig, LlamaForCausalLM
from transformers.modeling_outputs import CausalLMOutputWithPast
from transformers.modeling_utils import PreTrainedModel

from .configuration_internvl_like import TinyInternVLConfig, TinyVisionConfig


class TinyVisionModel(PreTrainedModel):
    main_input_name = "pixel_values"
    config_class = TinyVisionConfig
    _no_split_modules = ["InternVisionEncoderLayer"]

    def __init__(self, config):
        super().__init__(config)
        dpr = [x.item() for x in torch.linspace(0, config.drop_path_rate, config.num_hidden_layers)]
        self.layers = nn.ModuleList([nn.Linear(config.hidden_size, config.hidden_size) for _ in dpr])

    def forward(self, pixel_values):
        for layer in self.layers:
            pixel_values = layer(pixel_values)
        return pixel_values


class TinyInternVLChatModel(PreTrainedModel):
    config_class = TinyInternVLConfig
    main_input_name = "pixel_values"
    base_model_prefix = "language_model"
    _supports_flash_attn_2 = True
    _tied_weights_keys = ["language_model.lm_head.weight"]
    _no_split_modules = ["InternVisionModel", "LlamaDecoderLayer"]

    def __init__(self, config, vision_model=None, language_model=None):
        super().__init__(config)
        self.vision_model = vision_model if vision_model is not None else TinyVisionModel(config.vision_config)
        self.language_model = language_model if language_model is not None else LlamaForCausalLM(config.llm_config)
        self.mlp1 = nn.Linear(config.vision_config.hidden_size, config.llm_config.hidden_size)

    def get_input_embeddings(self):
        return self.language_model.get_input_embeddings()

    def get_output_embeddings(self):
        return self.language_model.get_output_embeddings()

    def forward(
        self, pixel_values=None, input_ids=None, attention_mask=None, position_ids=None, past_key_values=None,
        labels=None, use_cache=None, return_dict=None,
    ):
        embeds = self.language_model.get_input_embeddings()(input_ids)
        if pixel_values is not None:
            embeds = embeds + self.mlp1(self.vision_model(pixel_values)).mean()
        outputs = self.language_model(
            inputs_embeds=embeds, attention_mask=attention_mask, position_ids=position_ids,
            past_key_values=past_key_values, use_cache=use_cache, return_dict=return_dict,
        )
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(outputs.logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        return CausalLMOutputWithPast(loss=loss, logits=outputs.logits, past_key_values=outputs.past_key_values)

    @torch.no_grad()
    def generate(self, input_ids=None, pixel_values=None, attention_mask=None, generation_config=None, **generate_kwargs):
        new = self.language_model.generate(
            inputs_embeds=self.language_model.get_input_embeddings()(input_ids),
            attention_mask=attention_mask, generation_config=generation_config, **generate_kwargs,
        )
        return torch.cat((input_ids, new), dim=1)
