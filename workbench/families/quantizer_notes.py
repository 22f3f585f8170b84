"""Note what is known of each quantizer beyond the results of a sweep."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """A note on quantizers that behave alike.

    Args:
        names: their names.
        dtype: where the dtype comes from that their layers compute in.
        patchkit: what patchkit does and says.
        left: what it leaves, and what to do instead.
    """

    names: tuple[str, ...]
    dtype: str
    patchkit: str
    left: str


_SAYS = (
    "Where that is not the dtype of the training, preflight says `quantized-in-another-dtype`. "
    "`thread_dtype` refuses the model, because packed weights cannot be cast."
)
NOTES = (
    Note(
        ("torchao-int8", "torchao-float8"),
        "`dtype=`. Autocast does not reach int8 layers: they return the dtype of their input. "
        "float8 layers return the dtype of autocast, or float32 if their bias has another dtype.",
        _SAYS,
        "In fp16 with a bfloat16 model the int8 layers return bfloat16, float16 and float32, by "
        "what comes in. It trains.",
    ),
    Note(
        ("torchao-int8-dynamic",),
        "As for torchao-int8.",
        _SAYS,
        "No gradient passes through these layers, also in float32: LoRA on q, k, v, gate and up "
        "projections learns nothing, without an error. Use torchao-int8.",
    ),
    Note(
        ("torchao-int4",),
        "",
        "Nothing.",
        "torchao does not quantize to it on a CPU: its default layout wants the library mslk, two "
        "others want CUDA or refuse a CPU. mslk was not tried.",
    ),
    Note(
        ("quanto-int8", "quanto-int4", "quanto-float8"),
        "`dtype=`. Under autocast int8 layers return the dtype of their input, the others that of "
        "autocast.",
        _SAYS + " It is an error here: the first backward pass raises.",
        "Load the model in the dtype of the training. `merge_and_unload()` loses the adapters "
        "without an error: PEFT has no layer for quanto, and adds to a copy. The merged model has "
        "the logits of the base. Merge into a model that is not quantized.",
    ),
    Note(
        ("hqq-4bit",),
        "`compute_dtype` of HQQ's own function. Transformers 5.23.0 does not load HQQ: "
        "`QuantizationMethod.HQQ is not available yet`.",
        _SAYS + " It is an error here: the first backward pass raises.",
        "Quantize with the `compute_dtype` of the training.",
    ),
    Note(
        ("gptq", "awq"),
        "In training the layers return the dtype of their input, whatever that of the scales; "
        "without gradients that of autocast. `dtype=` decides all other weights. AutoRound writes "
        "float16 into the configuration.",
        "`thread_dtype` refuses the model.",
        "PEFT does not merge into these layers, and its `all-linear` does not name them: list the "
        "names of the layers. The failures of gpt_oss at `reload` are no matter of dtypes: "
        "AutoRound stores its experts one by one, Transformers does not find them and makes new "
        "random ones.",
    ),
    Note(
        ("auto-round",),
        "Not measured: nothing could be trained.",
        "`thread_dtype` refuses the model.",
        "PEFT has no adapter for AutoRound's layers. Export the same weights as GPTQ "
        '(`format="auto_gptq"`), which trains.',
    ),
    Note(
        ("compressed-tensors-int8",),
        "`dtype=`, also if the checkpoint has another. The first forward makes plain weights.",
        "The patches of plain models apply after it. `thread_dtype` refuses the model.",
        "Nothing.",
    ),
    Note(
        ("compressed-tensors-int4",),
        "`dtype=`.",
        "`thread_dtype` refuses the model.",
        "PEFT wants a `weight`, and packed layers have none before the first forward. Load with "
        "`CompressedTensorsConfig(dequantize=True)`.",
    ),
    Note(
        ("compressed-tensors-int4-dequantized",),
        "`dtype=`.",
        "All that it does for plain models: `accelerate-gradscaler-guard` lets full fine-tuning "
        "in fp16 take its first step.",
        "Nothing.",
    ),
    Note(
        ("mxfp4-dequantized",),
        "`dtype=`.",
        "All that it does for plain models: `accelerate-gradscaler-guard` lets full fine-tuning "
        "in fp16 take its first step.",
        "`save_pretrained` of a model that was trained in full stores the experts under names "
        "that are not found again (`…_blocks`): loading makes new random ones, and lists them as "
        "missing. `save_pretrained(…, save_original_format=False)` keeps them: the logits are the "
        "same.",
    ),
)
