"""A model in the shape of those of 2024 for images and text, whose positions it counts on by itself."""

from dataclasses import dataclass, fields
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch
import torch.nn.functional as F
from torch import nn
from transformers import GenerationConfig, PreTrainedModel
from transformers.cache_utils import Cache
from transformers.modeling_outputs import CausalLMOutputWithPast, ModelOutput
from transformers.models.auto import AutoModelForCausalLM

from .configuration_molmo_like import TinyMolmoConfig


@dataclass
class FullMolmoConfig:
    d_model: int = 32
    n_heads: int = 4
    n_layers: int = 2
    vocab_size: int = 64
    rope_theta: float = 10000.0
    weight_tying: bool = False
    image_width: int = 6


class MolmoOutput(NamedTuple):
    logits: torch.FloatTensor
    attn_key_values: Optional[List[Tuple[torch.Tensor, torch.Tensor]]]


class RotaryEmbedding(nn.Module):
    def __init__(self, config):
        super().__init__()
        dim = config.d_model // config.n_heads
        self.inv_freq = 1.0 / (config.rope_theta ** (torch.arange(0, dim, 2, dtype=torch.float) / dim))

    def forward(self, states, position_ids):
        freqs = position_ids[:, :, None].float() * self.inv_freq[None, None, :]
        positions = torch.cat((freqs, freqs), dim=-1)[:, None]
        first, second = states.chunk(2, dim=-1)
        return states * positions.cos() + torch.cat((-second, first), dim=-1) * positions.sin()


class MolmoBlock(nn.Module):
    def __init__(self, config, rotary_emb):
        super().__init__()
        self.n_heads = config.n_heads
        self.rotary_emb = rotary_emb
        self.att_proj = nn.Linear(config.d_model, 3 * config.d_model)
        self.attn_out = nn.Linear(config.d_model, config.d_model)

    def forward(self, x, position_ids, layer_past=None, use_cache=False):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.n_heads, -1).transpose(1, 2) for part in self.att_proj(x).chunk(3, -1))
        q, k = self.rotary_emb(q, position_ids), self.rotary_emb(k, position_ids)
        if layer_past is not None:
            past_key, past_value = layer_past
            k, v = torch.cat((past_key, k), dim=-2), torch.cat((past_value, v), dim=-2)
        seen = torch.ones(length, k.shape[2], dtype=torch.bool).tril(k.shape[2] - length)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=seen).transpose(1, 2).reshape(batch, length, width)
        return x + self.attn_out(out), (k, v) if use_cache else None


class Molmo(nn.Module):
    def __init__(self, config, init_params=True):
        super().__init__()
        self.config = config
        rotary_emb = RotaryEmbedding(config)
        self.transformer = nn.ModuleDict(
            dict(
                wte=nn.Embedding(config.vocab_size, config.d_model),
                blocks=nn.ModuleList([MolmoBlock(config, rotary_emb) for _ in range(config.n_layers)]),
                ln_f=nn.LayerNorm(config.d_model),
            )
        )
        if not config.weight_tying:
            self.transformer.update({"ff_out": nn.Linear(config.d_model, config.vocab_size, bias=False)})
        self.vision_backbone = nn.Linear(config.image_width, config.d_model)
        self.__num_fwd_flops = None
        if init_params:
            self.reset_parameters()

    def reset_parameters(self):
        nn.init.normal_(self.transformer.wte.weight, std=0.02)

    def forward(
        self, input_ids, attention_mask=None, images=None, image_input_idx=None, position_ids=None,
        past_key_values: Optional[Sequence[Tuple[torch.Tensor, torch.Tensor]]] = None, use_cache=False,
    ):
        if past_key_values:
            assert len(past_key_values) == self.config.n_layers
        past_length = past_key_values[0][0].size(-2) if past_key_values else 0
        if position_ids is None:
            position_ids = torch.arange(past_length, past_length + input_ids.shape[1])[None]
        x = self.transformer.wte(input_ids)
        if images is not None:
            x = x.index_add(1, image_input_idx, self.vision_backbone(images))
        attn_key_values = [] if use_cache else None
        for block_idx, block in enumerate(self.transformer.blocks):
            layer_past = None if not past_key_values else past_key_values[block_idx]
            x, cache = block(x, position_ids, layer_past=layer_past, use_cache=use_cache)
            if attn_key_values is not None:
                attn_key_values.append(cache)
        x = self.transformer.ln_f(x)
        logits = F.linear(x, self.transformer.wte.weight) if self.config.weight_tying else self.transformer.ff_out(x)
        return MolmoOutput(logits=logits, attn_key_values=attn_key_values)


class TinyMolmoForCausalLM(PreTrainedModel):
    config_class = TinyMolmoConfig
    base_model_prefix = "model"
    _no_split_modules = ["MolmoBlock"]

    def __init__(self, config: TinyMolmoConfig, model: Optional[Molmo] = None, init_params: bool = False):
        super().__init__(config)
        if not model:
            full_config = FullMolmoConfig(
                d_model=config.hidden_size, n_heads=config.num_attention_heads, n_layers=config.num_hidden_layers,
                vocab_size=config.embedding_size, rope_theta=config.rope_theta,
                weight_tying=config.tie_word_embeddings,
            )
            assert {field.name for field in fields(full_config)} >= {"image_width"}
            self.model = Molmo(full_config, init_params=init_params)
        else:
            self.model = model

    def forward(
        self, input_ids: torch.LongTensor = None, attention_mask: Optional[torch.Tensor] = None,
        images: Optional[torch.Tensor] = None, image_input_idx: Optional[torch.Tensor] = None,
        position_ids: Optional[torch.Tensor] = None, past_key_values: Optional[List[torch.FloatTensor]] = None,
        labels: Optional[torch.LongTensor] = None, use_cache: Optional[bool] = None,
        return_dict: Optional[bool] = None, cache_position: Optional[Cache] = None,
    ):
        if use_cache is None:
            use_cache = self.config.use_cache
        return_dict = return_dict if return_dict is not None else self.config.use_return_dict
        outputs = self.model.forward(
            input_ids=input_ids, attention_mask=attention_mask, images=images, image_input_idx=image_input_idx,
            position_ids=position_ids, past_key_values=past_key_values, use_cache=use_cache,
        )
        logits = outputs.logits
        loss = None
        if labels is not None:
            shift_logits = logits[..., :-1, :].contiguous().view(-1, self.config.embedding_size)
            loss = nn.CrossEntropyLoss()(shift_logits, labels[..., 1:].contiguous().view(-1))
        if not return_dict:
            output = (logits,)
            return (loss,) + output if loss is not None else output
        return CausalLMOutputWithPast(loss=loss, logits=logits, past_key_values=outputs.attn_key_values)

    def can_generate(self) -> bool:
        return True

    @torch.no_grad()
    def generate_from_batch(self, batch: Dict[str, Any], generation_config: Optional[GenerationConfig] = None, **kwargs):
        input_ids = batch["input_ids"]
        attention_mask = input_ids != -1
        position_ids = torch.clamp(torch.cumsum(attention_mask.to(torch.int32), dim=-1) - 1, min=0)
        return super().generate(
            input_ids, generation_config, attention_mask=attention_mask, position_ids=position_ids,
            images=batch.get("images"), image_input_idx=batch.get("image_input_idx"), **kwargs,
        )

    def generate(self, inputs=None, generation_config=None, **kwargs):
        return self.generate_from_batch({"input_ids": inputs}, generation_config, **kwargs)

    def prepare_inputs_for_generation(
        self, input_ids: torch.LongTensor, past_key_values: Optional[List[Tuple]] = None, **kwargs
    ):
        if past_key_values:
            input_ids = input_ids[:, -1:]
        return {
            "input_ids": input_ids, "attention_mask": kwargs.get("attention_mask"),
            "position_ids": kwargs.get("position_ids"), "past_key_values": past_key_values,
            "use_cache": kwargs.pop("use_cache", None), "images": kwargs.get("images"),
            "image_input_idx": kwargs.get("image_input_idx"),
        }

    def _update_model_kwargs_for_generation(
        self, outputs: ModelOutput, model_kwargs: Dict[str, Any], is_encoder_decoder: bool = False,
        num_new_tokens: int = 1,
    ) -> Dict[str, Any]:
        use_cache = model_kwargs["use_cache"]
        last = model_kwargs["position_ids"][:, -1:] + 1
        model_kwargs["position_ids"] = last if use_cache else torch.cat((model_kwargs["position_ids"], last), dim=1)
        model_kwargs = super()._update_model_kwargs_for_generation(
            outputs, model_kwargs, is_encoder_decoder, num_new_tokens
        )
        if use_cache and "images" in model_kwargs:
            del model_kwargs["images"]
            del model_kwargs["image_input_idx"]
        return model_kwargs

    def get_input_embeddings(self) -> torch.nn.Module:
        return self.model.transformer.wte

    def set_input_embeddings(self, value: torch.nn.Module):
        self.model.transformer.wte = value

    def get_output_embeddings(self):
        return self.model.transformer.wte if self.config.tie_word_embeddings else self.model.transformer.ff_out

    def set_output_embeddings(self, value: torch.nn.Module):
        if self.config.tie_word_embeddings:
            self.model.transformer.wte = value
        else:
            self.model.transformer.ff_out = value

    def tie_weights(self):
        pass


AutoModelForCausalLM.register(TinyMolmoConfig, TinyMolmoForCausalLM)
