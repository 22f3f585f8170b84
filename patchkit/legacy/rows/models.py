"""What files of models, a script's or a repository's, read and call of Transformers 4."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..changes import Adjusted, Attribute, Behaviour, Change, Parameters
from ..converting import former_models
from ..converting.adjusting.own_methods import former_parameters

_CACHE = ("transformers.Cache",)
_MODEL = ("transformers.PreTrainedModel",)
_MASK = "make the mask by create_causal_mask or create_bidirectional_mask of masking_utils"


def _itself(model: Any) -> Any:
    return model


ROWS: tuple[Change, ...] = (
    Attribute(
        owners=("transformers.DynamicCache",),
        name="from_legacy_cache",
        read=partial(partial, former_models.cache_of_tuples),
        advice="write DynamicCache(…)",
        of_class=True,
        gone="transformers 5.0.0",
    ),
    *(
        Attribute(owners=_CACHE, name=name, read=read, advice=advice, gone=f"transformers {gone}")
        for name, read, advice, gone in (
            (
                "to_legacy_cache",
                partial(partial, former_models.tuples_of_cache),
                "read keys and values of layers",
                "5.0.0",
            ),
            (
                "__getitem__",
                lambda cache: former_models.tuples_of_cache(cache).__getitem__,
                "read keys and values of layers[…]",
                "5.0.0",
            ),
            (
                "get_usable_length",
                partial(partial, former_models.usable_length),
                "call get_seq_length()",
                "4.54.0",
            ),
            (
                "seen_tokens",
                lambda cache: cache.get_seq_length(),
                "call get_seq_length()",
                "4.54.0",
            ),
            (
                "_seen_tokens",
                lambda cache: cache.get_seq_length(),
                "call get_seq_length()",
                "4.54.0",
            ),
            (
                "key_cache",
                lambda cache: former_models.LayerStates(cache, "keys"),
                "read layers[…].keys",
                "4.56.0",
            ),
            (
                "value_cache",
                lambda cache: former_models.LayerStates(cache, "values"),
                "read layers[…].values",
                "4.56.0",
            ),
        )
    ),
    Behaviour(
        owners=("transformers.DynamicCache.__iter__",),
        name="pairs of keys and values",
        around=former_models.pairs_of_cache,
        gone="transformers 5.0.0",
    ),
    Behaviour(
        owners=("transformers.Cache.get_max_length",),
        name="a cache without a limit",
        around=former_models.no_limit_is_none,
        gone="transformers 5.14.0",
    ),
    *(
        Attribute(owners=_MODEL, name=name, read=read, advice=advice, gone=f"transformers {gone}")
        for name, read, advice, gone in (
            (
                "get_head_mask",
                partial(partial, former_models.masks_of_heads),
                "leave it out: attention takes no mask of heads",
                "5.0.0",
            ),
            (
                "invert_attention_mask",
                partial(partial, former_models.inverted_mask),
                _MASK,
                "5.17.0",
            ),
            (
                "get_extended_attention_mask",
                partial(partial, former_models.extended_mask),
                _MASK,
                "5.17.0",
            ),
        )
    ),
    Attribute(
        owners=_MODEL,
        name="active_adapter",
        read=lambda model: lambda: model.active_adapters()[0],
        advice="call active_adapters()",
        gone="transformers 4.57.0",
    ),
    Attribute(
        owners=("transformers.CLIPTextModel",),
        name="text_model",
        read=_itself,
        advice="leave it out",
        written="{object}",
        gone="transformers 5.6.0",
    ),
    Behaviour(
        owners=(
            "transformers.PreTrainedModel.get_expanded_tied_weights_keys",
            "transformers.PreTrainedModel.save_pretrained",
        ),
        name="a list of tied weights",
        around=former_models.mapped_tied_weights,
        gone="transformers 5.0.0",
    ),
    Behaviour(
        owners=("transformers.PreTrainedModel._get_dtype_plan",),
        name="models that do not call post_init",
        around=former_models.finish,
        gone="transformers 5.0.0",
    ),
    Behaviour(
        owners=("transformers.GenerationMixin._prepare_position_ids_for_generation",),
        name="positions in generate",
        around=former_models.no_positions,
        gone="transformers 5.2.0",
    ),
    Behaviour(
        owners=("transformers.GenerationMixin._update_model_kwargs_for_generation",),
        name="positions of the next tokens",
        around=former_models.own_positions,
        gone="transformers 5.2.0",
    ),
    Behaviour(
        owners=("transformers.PreTrainedConfig.__init_subclass__",),
        name="configurations with a constructor of their own",
        around=former_models.configured_as_before,
        gone="transformers 5.0.0",
    ),
    Behaviour(
        owners=("transformers.GenerationMixin._prepare_cache_for_generation",),
        name="states that are tuples",
        around=former_models.no_cache,
        gone="transformers 5.0.0",
    ),
    Adjusted(
        owners=_MODEL,
        name="tie_weights",
        adjust=former_parameters,
        in_source=Parameters("tie_weights", ("missing_keys=None", "recompute_mapping=True")),
        gone="transformers 5.0.0",
    ),
    Adjusted(
        owners=_MODEL,
        name="models that say how they generate",
        adjust=former_models.let_generate,
        gone="transformers 4.50.0",
    ),
    *(
        Behaviour(
            owners=(f"transformers.PreTrainedModel.{method}",),
            name="buffers that are not in the checkpoint",
            around=around,
            gone="transformers 5.0.0",
        )
        for method, around in (
            ("get_init_context", former_models.make_buffers),
            ("_move_missing_keys_from_meta_to_device", former_models.keep_buffers),
        )
    ),
    Adjusted(
        owners=_MODEL,
        name="positions without a scaling",
        adjust=former_models.know_default_positions,
        gone="transformers 5.0.0",
    ),
    *(
        Adjusted(
            owners=("transformers.LlamaModel",),
            name=name,
            adjust=former_models.put_in_vain,
            gone=f"transformers {gone}",
        )
        for name, gone in (
            ("_prepare_decoder_attention_mask", "4.35.0"),
            ("_update_causal_mask", "4.53.0"),
        )
    ),
)
