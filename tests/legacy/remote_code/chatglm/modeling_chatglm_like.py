"""A model in the shape of those of 2023 that keep states of their own, and do not call post_init."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import skip_init
from transformers.generation.logits_process import LogitsProcessor
from transformers.modeling_outputs import CausalLMOutputWithPast
from transformers.modeling_utils import PreTrainedModel

from .configuration_chatglm_like import ChatGLMLikeConfig


class InvalidScoreLogitsProcessor(LogitsProcessor):
    def __call__(self, input_ids, scores):
        return torch.nan_to_num(scores)


class ChatGLMLikePreTrainedModel(PreTrainedModel):
    is_parallelizable = False
    supports_gradient_checkpointing = True
    config_class = ChatGLMLikeConfig
    base_model_prefix = "transformer"

    def _init_weights(self, module):
        return

    def get_position_ids(self, input_ids, device):
        return torch.arange(input_ids.shape[1], device=device)[None].repeat(input_ids.shape[0], 1)


class ChatGLMLikeForConditionalGeneration(ChatGLMLikePreTrainedModel):
    def __init__(self, config, empty_init=True, device=None):
        super().__init__(config)
        init_method = (
            skip_init if empty_init else (lambda cls, *args, **kwargs: cls(*args, **kwargs))
        )
        if empty_init:
            init_method = lambda cls, *args, **kwargs: cls(*args, **kwargs)  # noqa: E731
        self.max_sequence_length = config.max_length
        self.embedding = init_method(nn.Embedding, config.padded_vocab_size, config.hidden_size)
        self.positions = init_method(nn.Embedding, config.seq_length, config.hidden_size)
        self.layers = nn.ModuleList(
            init_method(nn.Linear, config.hidden_size, 3 * config.hidden_size)
            for _ in range(config.num_layers)
        )
        self.output_layer = init_method(
            nn.Linear, config.hidden_size, config.padded_vocab_size, bias=False
        )

    def get_input_embeddings(self):
        return self.embedding

    def get_output_embeddings(self):
        return self.output_layer

    def _update_model_kwargs_for_generation(
        self, outputs, model_kwargs, is_encoder_decoder=False, standardize_cache_format=False
    ):
        model_kwargs["past_key_values"] = outputs.past_key_values
        if "position_ids" in model_kwargs:
            position_ids = model_kwargs["position_ids"]
            new = position_ids[..., -1:].clone() + 1
            model_kwargs["position_ids"] = torch.cat([position_ids, new], dim=-1)
        model_kwargs["is_first_forward"] = False
        return model_kwargs

    def prepare_inputs_for_generation(
        self,
        input_ids,
        past_key_values=None,
        attention_mask=None,
        position_ids=None,
        use_cache=None,
        is_first_forward=True,
        **kwargs,
    ):
        if position_ids is None:
            position_ids = self.get_position_ids(input_ids, device=input_ids.device)
        if not is_first_forward and past_key_values is not None:
            position_ids = position_ids[..., -1:]
            input_ids = input_ids[:, -1:]
        return {
            "input_ids": input_ids,
            "past_key_values": past_key_values,
            "position_ids": position_ids,
            "attention_mask": attention_mask,
            "return_last_logit": True,
            "use_cache": use_cache,
        }

    def forward(
        self,
        input_ids=None,
        position_ids=None,
        attention_mask=None,
        past_key_values=None,
        labels=None,
        use_cache=None,
        return_dict=None,
        return_last_logit=False,
    ):
        batch, length = input_ids.shape
        if position_ids is None:
            position_ids = self.get_position_ids(input_ids, input_ids.device)
        states = self.embedding(input_ids) + self.positions(position_ids)
        if past_key_values is None:
            past_key_values = tuple([None] * self.config.num_layers)
        presents = ()
        for layer, past in zip(self.layers, past_key_values):
            query, key, value = layer(states).chunk(3, dim=-1)
            if past is not None:
                key, value = torch.cat((past[0], key), 1), torch.cat((past[1], value), 1)
            presents += ((key, value),)
            before = key.shape[1] - length
            seen = torch.ones(length, key.shape[1], dtype=torch.bool).tril(before)
            states = states + F.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        logits = self.output_layer(states[:, -1:] if return_last_logit else states)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        return CausalLMOutputWithPast(
            loss=loss, logits=logits, past_key_values=presents if use_cache else None
        )

    @staticmethod
    def _reorder_cache(past, beam_idx):
        return tuple(tuple(state.index_select(0, beam_idx) for state in layer) for layer in past)
