"""A checkpoint that is quantized already keeps the dtype it was saved in, whatever is asked for.

A 4-bit checkpoint saved in bfloat16 and loaded with `dtype=torch.float16`, even with an explicit
`BitsAndBytesConfig(bnb_4bit_compute_dtype=torch.float16)`, computes in bfloat16: slowly or not at
all on a GPU without it. A warning says that the checkpoint's `quantization_config` is used, and
the layers' compute dtype and quant states follow that. From 5.21.0 Transformers leaves norms,
embeddings and heads of such a checkpoint, 4-bit or 8-bit, as they were saved too, and those that
a model keeps in float32.

Fix: what the arguments of `from_pretrained` ask for is brought through the model. Where they ask
for nothing (no dtype, or "auto") nothing changes. An explicit compute dtype wins over `dtype` for
the layers; `dtype=torch.float32` by itself leaves their compute dtype alone, and float32 in a
`BitsAndBytesConfig` counts as not given, since that is what the class makes of nothing.

Why: `from_pretrained` is wrapped and not rewritten, because only its arguments tell "auto" from an
explicit dtype, and it runs once for each load. The request is kept on `hf_quantizer`, never in a
configuration that is saved. A plain dictionary with float32 counts as given, unlike a
`BitsAndBytesConfig`. From Transformers 5.21 on, loading casts nothing of a quantized checkpoint, so
the cast is made in the checkpoint's own conversion, where the model's float32 plan is known.

Packed weights are never cast, whatever dtype stores them. `quant_state.dtype` follows the compute
dtype; `state2.dtype` is that of the block scales of double quantization, and stays float32.
"""

from patchkit.authoring import Patch, Wrap

LOADING = "patchkit.precision.loading"
CONVERSIONS = "transformers.integrations.bitsandbytes"

PATCH = Patch(
    id="transformers-prequantized-dtype",
    title="A quantized checkpoint is loaded in the dtype that is asked for",
    affects={"transformers": ">=4.46.3", "bitsandbytes": ">=0.46"},
    changes=(
        Wrap(
            "transformers.modeling_utils:PreTrainedModel.from_pretrained",
            f"{LOADING}:around_from_pretrained",
        ),
        *(
            Wrap(
                f"{CONVERSIONS}:{conversion}.convert",
                f"{LOADING}:cast_unquantized",
                parameters=("input_dict", "model", "full_layer_name"),
                affects=">=5.21",
            )
            for conversion in ("Bnb4bitDeserialize", "Bnb8bitDeserialize")
        ),
    ),
    upstream=(
        "https://github.com/huggingface/transformers/issues/47378",
        "https://github.com/huggingface/transformers/pull/47661",
    ),
    symptom="asked for float16",
    caution="A half-precision `dtype` becomes the compute dtype of 4-bit checkpoints too: results "
    "differ by its rounding, and float16 overflows where bfloat16 does not. Give a "
    "`BitsAndBytesConfig(bnb_4bit_compute_dtype=...)` to compute in another one.",
)


def reproduce() -> None:
    """Save a 4-bit checkpoint in bfloat16, and load it in float16."""
    from patchkit.lab.quantized import compute_dtypes, load, saved_in_temporary_folder

    with saved_in_temporary_folder(dtype="bfloat16") as folder:
        model = load(folder, dtype="float16", compute_dtype="float16")
    norm = {str(parameter.dtype) for parameter in model.model.norm.parameters()}
    dtypes = compute_dtypes(model) | norm
    assert dtypes == {"torch.float16"}, f"asked for float16, loaded in {sorted(dtypes)}"
