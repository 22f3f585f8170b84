"""Adapters of `model.add_adapter()` are trained in the half precision of the base model.

Under fp16 the first optimizer step raises `ValueError: Attempting to unscale FP16 gradients.`;
under bf16 small updates are rounded away. PEFT's own `get_peft_model` makes adapters float32
(`autocast_adapter_dtype`), and so does `PeftModel.from_pretrained`. Transformers' `add_adapter` and
`load_adapter(..., is_trainable=True)` call `inject_adapter_in_model`, which does not; the second
rounds what was trained in float32.

Fix: an adapter that is injected for training is cast as PEFT casts it, before weights are loaded
into it. One for inference keeps the dtype of the base. Under FSDP and DeepSpeed all stay as they
are, since those want one dtype.

Why: `inject_adapter_in_model` drops the tuner that it makes, so the patch calls the cast of a tuner
that was never initialized. Tuners with a cast of their own (LN tuning casts nothing) behave as in
PEFT, and `peft-modules-to-save-dtype` applies too. The cast comes before the weights are loaded,
because weights that were trained in float32 would be rounded otherwise.
"""

import ast

from patchkit.authoring import Edit, Patch, Rewrite, Rule, helper, replace

INJECT = "inject_adapter_in_model"


def injects_adapter(node: ast.AST) -> bool:
    """Match `inject_adapter_in_model(CONFIG, MODEL, NAME, …)` as a statement."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[_, _, _])):
            return name == INJECT
    return False


def inject_and_cast(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Expr)
    assert isinstance(node.value, ast.Call)
    casting = helper(f"{__package__}._injected_adapters:casting")
    return [replace(node.value.func, f"{casting}({INJECT})")]


RULE = Rule(injects_adapter, inject_and_cast, names=("inject_adapter_in_model",))
MIXIN = "transformers.integrations.peft:PeftAdapterMixin"

PATCH = Patch(
    id="transformers-add-adapter-dtype",
    title="Adapters that Transformers adds for training are float32, as those of PEFT are",
    affects={"transformers": ">=4.46.3", "peft": ">=0.15"},
    changes=(Rewrite(f"{MIXIN}.add_adapter", RULE), Rewrite(f"{MIXIN}.load_adapter", RULE)),
    upstream=(
        "https://github.com/huggingface/peft/issues/1249",
        "https://github.com/huggingface/peft/pull/1706",
    ),
    symptom="Attempting to unscale FP16 gradients",
    messages=("Attempting to unscale FP16 gradients.",),
    caution="On a half-precision base, adapters that are added for training, their gradients and "
    "their optimizer states take twice the memory, and they are saved in float32. Neither function "
    "has PEFT's `autocast_adapter_dtype=False`: exclude the patch to keep half precision.",
)


def reproduce() -> None:
    """Add LoRA to a float16 model, and train it in fp16."""
    import tempfile
    from pathlib import Path

    from patchkit.lab import cuda_fp16, tiny

    tiny.go_offline()
    cuda_fp16.install()
    import peft
    import torch
    import transformers

    ids = torch.arange(4, 12)
    with tempfile.TemporaryDirectory() as folder:
        path = tiny.build_causal_lm(Path(folder) / "model", dtype="float16")
        model = tiny.load(path, dtype="float16")
        model.add_adapter(peft.LoraConfig(r=2, target_modules=["q_proj"]))
        arguments = transformers.TrainingArguments(
            folder, fp16=True, max_steps=1, report_to=[], save_strategy="no", disable_tqdm=True
        )
        transformers.Trainer(
            model=model, args=arguments, train_dataset=[{"input_ids": ids, "labels": ids}]
        ).train()
