"""`prepare_model_for_kbit_training` doubles the memory of experts that are not quantized.

Transformers 5 holds all experts of a layer in one tensor, which is no linear layer, so bitsandbytes
leaves it as it is. PEFT's function then makes everything float32 that is not quantized, meant for
norms and the head. For a mixture of experts that is most of the model: bfloat16 after loading,
float32 after it, and often out of memory. The experts compute in float32 from then on, under
autocast too.

Fix: fused experts keep their dtype where the code that multiplies with them casts its input: where
`experts_implementation` is "grouped_mm", the default. Everything else becomes float32 as before.

Why: only "grouped_mm" casts its input to the dtype of the weights, from Transformers 5.3 on (5.0
does not). The other implementations would raise without autocast, so their experts become float32
as before. Six steps of LoRA in bfloat16 on a tiny Qwen3-MoE, Mixtral and GPT-OSS, in 4-bit and
8-bit, with autocast and without, had losses within 0.03 of those with float32 experts. With float32
experts, runs with autocast and without differ by up to 0.02. Axolotl's `embeddings_skip_upcast`
looks for the text of the loop and puts a copy of the function with another loop in its place. The
patch hides the experts from whatever loop stands there, so that both are in force.
"""

import ast
import itertools

from patchkit.authoring import Edit, Patch, Rewrite, Rule, helper, span


def upcasts_all_but_quantized(node: ast.AST) -> bool:
    """Match a function with `if …: for P in M.parameters(): …` and a second `if` behind it."""
    return isinstance(node, ast.FunctionDef) and _place(node) is not None


def leave_fused_experts(node: ast.AST) -> list[Edit]:
    # Not a letter of the loop changes: other tools look for its text, and replace it.
    assert isinstance(node, ast.FunctionDef)
    place = _place(node)
    assert place is not None
    model, before, behind = place
    start = helper(f"{__package__}._fused_experts:without_fused_experts")
    end = helper(f"{__package__}._fused_experts:with_fused_experts")
    (first, last), (begin, finish) = span(before), span(behind)
    return [
        Edit(first, first, "("),
        Edit(last, last, f") and ({model} := {start}({model}))"),
        Edit(begin, begin, f"({model} := {end}({model})) is not None and ("),
        Edit(finish, finish, ")"),
    ]


def _place(function: ast.FunctionDef) -> tuple[str, ast.expr, ast.expr] | None:
    """Return the name of the model, and the tests of the two statements."""
    for statement, following in itertools.pairwise(function.body):
        match statement, following:
            case ast.If(test=before, body=[ast.For() as loop, *_]), ast.If(test=behind):
                model = _model_of_loop(loop)
                if model and not any(isinstance(part, ast.NamedExpr) for part in ast.walk(before)):
                    return model, before, behind
    return None


def _model_of_loop(loop: ast.For) -> str:
    """Return M of `for P in M.parameters(): if … != "Params4bit": P.data = …`; else nothing."""
    match loop:
        case ast.For(
            iter=ast.Call(
                func=ast.Attribute(value=ast.Name(id=model), attr="parameters"),
                args=[],
                keywords=[],
            ),
            body=[ast.If(test=test, body=[ast.Assign(targets=[ast.Attribute(attr="data")])])],
        ) if any(
            isinstance(part, ast.Constant) and part.value == "Params4bit" for part in ast.walk(test)
        ):
            return model
    return ""


RULE = Rule(
    upcasts_all_but_quantized, leave_fused_experts, names=("parameters", "data", "__class__")
)

PATCH = Patch(
    id="peft-kbit-fused-experts",
    title="Fused experts that are not quantized keep their dtype when a model is prepared",
    # Up to Transformers 5.0 the experts' code wants activations of its weights' dtype.
    affects={"peft": ">=0.18.1", "transformers": ">=5.3"},
    changes=(Rewrite("peft.utils.other:prepare_model_for_kbit_training", RULE),),
    # Transformers before 5.3, beside which these were measured, needs float32 experts.
    harmless={"peft.utils.other:prepare_model_for_kbit_training": "<0.18.1"},
    upstream=(
        "https://github.com/bitsandbytes-foundation/bitsandbytes/issues/1849",
        "https://github.com/unslothai/unsloth/issues/4032",
    ),
    symptom="bytes of fused experts have become",
    caution="Experts compute in the dtype that they were loaded in, as quantized layers would, and "
    "not in float32: losses differ by its rounding. LoRA on them by `target_parameters` adds its "
    "product in that dtype. Choosing another `experts_implementation` after the model was prepared "
    "needs autocast.",
)

TINY_MIXTRAL = {
    **dict.fromkeys(("vocab_size", "hidden_size", "intermediate_size"), 64),
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "num_local_experts": 4,
    "pad_token_id": 0,
}
"""The smallest configuration with four experts whose layers bitsandbytes can quantize."""


def reproduce() -> None:
    """Prepare a tiny 4-bit Mixtral for training, and take a step without autocast."""
    import peft
    import torch
    import transformers

    from patchkit.lab import quantized, shapes

    config = transformers.MixtralConfig(**TINY_MIXTRAL)
    model = quantized.reload(
        transformers.MixtralForCausalLM(config), dtype="bfloat16", compute_dtype="bfloat16"
    )
    shapes.norms_in_float32(model)
    try:
        with torch.autocast("cpu", torch.bfloat16):
            model(input_ids=shapes.words())
    except RuntimeError:
        return  # Here experts need the dtype of their activations, which are float32.

    def size() -> int:
        return sum(tensor.nbytes for tensor in model.parameters() if tensor.ndim > 2)

    before = size()
    model = peft.prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
    after = size()
    model = peft.get_peft_model(model, peft.LoraConfig(r=2, target_modules=["q_proj"]))
    loss = model(input_ids=shapes.words(), labels=shapes.words()).loss
    loss.backward()
    assert after == before, f"{before} bytes of fused experts have become {after}"
