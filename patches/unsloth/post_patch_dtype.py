"""4-bit layers keep the checkpoint's dtype where another one was asked for.

`FastLanguageModel.from_pretrained(..., dtype=torch.float16)` of a checkpoint that is saved in
bfloat16 gives Llama, Gemma and Gemma 2 models (and those that share Llama's code) quant states,
rotary caches and a config in bfloat16: `post_patch` hands the model on without the dtype that was
requested, so that `patch_model_and_tokenizer` takes the one in the config. Fast kernels read the
quant state, and a float16 run ends in a dtype mismatch. unsloth 2026.2.1 passes it on.

Fix: `from_pretrained` leaves the dtype on the model, and `post_patch` takes it from there.

Why: the dtype is carried on the model, because swapping code cannot add a parameter with a default.
The patch has never run on a loaded model, since importing unsloth needs a GPU: each `post_patch`
was compiled from the released source and called with a stub in place of its callee.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, insert_after, replace

POST_PATCH = Pattern("model_patcher.post_patch(M, T)")
PATCH_MODEL = Pattern("patch_model_and_tokenizer(M, T, downcast_rope=D)")
REQUESTED = "_patchkit_requested_dtype"


def leave_dtype_on_model(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    model, method = ast.unparse(node.args[0]), ast.unparse(node.func)
    return [replace(node.func, f"(setattr({model}, {REQUESTED!r}, dtype) or {method})")]


def take_dtype_from_model(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    (last,) = node.keywords
    model = ast.unparse(node.args[0])
    requested = f"vars({model}).pop({REQUESTED!r}, None)"
    return [insert_after(last.value, f", correct_dtype = {requested}")]


LOAD = Rule(POST_PATCH, leave_dtype_on_model, names=("post_patch", "from_pretrained"))
HAND_ON = Rule(PATCH_MODEL, take_dtype_from_model, names=("patch_model_and_tokenizer",))

PATCH = Patch(
    id="unsloth-post-patch-dtype",
    title="4-bit layers have the dtype that was asked for",
    # Before, `patch_model_and_tokenizer` of unsloth_zoo takes no dtype.
    affects={"unsloth": ">=2025.5.4,<2026.2.1"},
    changes=(
        Rewrite("unsloth.models.llama:FastLlamaModel.from_pretrained", LOAD),
        Rewrite("unsloth.models.llama:FastLlamaModel.post_patch", HAND_ON),
        Rewrite("unsloth.models.gemma:FastGemmaModel.post_patch", HAND_ON),
        Rewrite("unsloth.models.gemma2:FastGemma2Model.post_patch", HAND_ON),
    ),
    upstream=("https://github.com/unslothai/unsloth/pull/4005",),
    symptom="quant states are",
    requires=("cuda",),
)


def reproduce() -> None:
    """Load a bfloat16 4-bit checkpoint as float16."""
    import tempfile
    from pathlib import Path

    import torch
    from unsloth import FastLanguageModel

    from patchkit.lab import tiny

    with tempfile.TemporaryDirectory() as folder:
        source = tiny.build_causal_lm(Path(folder) / "plain", dtype="bfloat16")
        saved = str(Path(folder) / "4bit")
        tiny.load(source, quantization="4bit", dtype="bfloat16").save_pretrained(saved)
        tiny.load_tokenizer(source).save_pretrained(saved)
        model, _ = FastLanguageModel.from_pretrained(
            saved, dtype=torch.float16, load_in_4bit=True, max_seq_length=64
        )
    states = {
        str(weight.quant_state.dtype)
        for weight in model.parameters()
        if hasattr(weight, "quant_state")
    }
    assert states == {"torch.float16"}, f"quant states are {states}"
