"""List the checks: each takes the facts and returns a finding, or None if all is well.

To add one, write a function in one of these files or a new one, and name it below.
"""

from __future__ import annotations

from collections.abc import Callable

from ..facts import TrainingFacts
from ..findings import Finding
from . import (
    arguments,
    attention,
    gradients,
    losses,
    placement,
    quantized,
    trained,
    unused,
    versions,
    weights,
)

Check = Callable[[TrainingFacts], Finding | None]

CHECKS: tuple[Check, ...] = (
    arguments.both_precisions,
    arguments.precision_disagrees,
    arguments.precision_from_elsewhere,
    arguments.fp16_on_cpu,
    arguments.bf16_unsupported,
    arguments.full_eval_casts,
    gradients.nothing_trained,
    gradients.trained_outside_the_graph,
    unused.trained_but_unused,
    gradients.optimizer_of_other_parameters,
    gradients.checkpointing_cuts_the_graph,
    gradients.inference_tensors,
    losses.added_up,
    trained.half_under_scaler,
    trained.float16_without_scaler,
    trained.updates_round_away,
    trained.magnitude_in_half,
    attention.flash_attention_in_float32,
    attention.flash_attention_unsupported,
    weights.other_half,
    weights.head_of_another_dtype,
    quantized.compute_in_float32,
    quantized.compute_in_another_dtype,
    quantized.compute_dtype_unset,
    quantized.quant_state,
    quantized.trained_bias,
    quantized.int8_activations,
    quantized.images_behind_eight_bits,
    quantized.experts_not_quantized,
    quantized.layers_of_another_dtype,
    placement.adapters_elsewhere,
    placement.adapter_on_router,
    placement.statistics_not_saved,
    placement.device_map_refused,
    placement.mixed_under_fsdp,
    placement.partly_trained_under_fsdp,
    gradients.fused_step_under_fsdp,
    trained.state_of_another_dtype,
    versions.unfixed_bugs,
)
