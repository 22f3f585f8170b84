"""4-bit layers compute in float32, slowly, in a training that was to be in bf16 or fp16.

Nothing is said. `BitsAndBytesConfig(load_in_4bit=True)` means a compute dtype of float32, and a
quantized checkpoint brings the one of whoever saved it. Up to bitsandbytes 0.49 autocast corrected
that, since the layers called `linear`; from 0.50.0 they call an operator of their own, which
autocast does not know: forward and backward run in the compute dtype, between layers in half
precision. bfloat16 layers in an fp16 run, on a GPU without bfloat16, are the same fault.

Fix: when a Trainer has been made, compute dtypes and quant states take the dtype of the training,
unless the user gave another one: to `apply(dtype=...)`, or to `from_pretrained` as
`bnb_4bit_compute_dtype` or as a half-precision `dtype`. Parameters are not touched.

Why: in `Trainer.__init__` model, adapters and arguments are known, and no optimizer exists. The
patch acts only if the user named no compute dtype and the one there disagrees with the arguments. A
model that was loaded before `apply()` with a compute dtype in half precision is left alone, since
nobody knows who chose it.
"""

from patchkit.authoring import Patch, Wrap

PATCH = Patch(
    id="transformers-trainer-compute-dtype",
    title="4-bit layers compute in the precision of the training",
    affects={"transformers": ">=4.53.3", "bitsandbytes": ">=0.50"},
    changes=(
        Wrap(
            "transformers.trainer:Trainer.__init__",
            f"{__package__}._training_compute_dtype:after_trainer_init",
            parameters=("model", "args"),
        ),
    ),
    upstream=(
        "https://github.com/bitsandbytes-foundation/bitsandbytes/pull/2077",
        "https://github.com/bitsandbytes-foundation/bitsandbytes/issues/1515",
    ),
    symptom="4-bit layers computed in",
    caution="Whoever wants float32 inside a half-precision training cannot say so with "
    "`BitsAndBytesConfig`, whose default it is: `apply(exclude=...)` this patch, or `apply(dtype="
    "torch.float32)`. A compute dtype in half precision that was set before `apply()` stays.",
)


def reproduce() -> None:
    """Train a 4-bit model in bf16, and look in which dtype its layers multiply."""
    import tempfile
    from pathlib import Path

    from patchkit.lab import quantized, tiny

    with tempfile.TemporaryDirectory() as folder:
        path = tiny.build_causal_lm(Path(folder) / "model", dtype="bfloat16")
        config = quantized.configuration(4)
        model = quantized.load(path, dtype="bfloat16", quantization_config=config)
        dtypes = quantized.dtypes_multiplied_in(model, Path(folder), bf16=True)
    assert dtypes == {"torch.bfloat16"}, f"4-bit layers computed in {sorted(dtypes)} in a bf16 run"
