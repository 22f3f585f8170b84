"""Adapters on a quantized model give float32 to the rest of a half-precision model.

`RuntimeError: Expected query, key, and value to have the same dtype, but got query.dtype:
c10::BFloat16 key.dtype: float` in the first forward without autocast, `generate()` after a training
included: (IA)3, RoAd, RandLoRA, VeRA and PVeRA on 4-bit and 8-bit layers, AdaLoRA on 8-bit ones.
Each of them computes in float32, as PEFT means it to, and means to return the dtype that came in:
but it asks for that dtype after it has overwritten the input, or casts something else.

Fix: the dtype is noted before anything is computed, and the result returned in it. Under autocast
the layers return what they did.
"""

import ast

from patchkit.authoring import (
    Edit,
    Patch,
    Pattern,
    Rewrite,
    Rule,
    mentions,
    operand,
    replace,
    require,
)
from patchkit.precision.autocast import spell_out_autocast

RESULT_IN_DTYPE_OF = Pattern("R.to(X.dtype)")
INPUT_DTYPE = "input_dtype"
# A proxy of torch.fx has no dtype yet.
IS_PROXY = f"not isinstance({INPUT_DTYPE}, torch.dtype)"


def returns_what_it_computed_in(node: ast.AST) -> bool:
    """Match a forward with an early way out that ends with its result, or that in a late dtype."""
    match node:
        case ast.FunctionDef(name="forward", body=[*before, ast.Return(value=value)]):
            return (
                any(isinstance(statement, ast.If) for statement in before)
                and (isinstance(value, ast.Name) or _in_late_dtype(value))
                and not mentions(node, INPUT_DTYPE)
            )
    return False


def _in_late_dtype(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and RESULT_IN_DTYPE_OF(value)


def return_in_dtype_of_input(node: ast.AST) -> list[Edit]:
    match node:
        case ast.FunctionDef(
            args=ast.arguments(args=[_, ast.arg(arg=x), *_]),
            body=[*before, ast.Return(value=ast.expr() as value)],
        ):
            first = next(statement for statement in before if isinstance(statement, ast.If))
            result, as_before = operand(value), ast.unparse(value)
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
                result = operand(value.func.value)
            # Upstream asks for CUDA's autocast, whatever the device.
            condition = f"{IS_PROXY} or {spell_out_autocast(x)}"
            fixed = f"({as_before} if {condition} else {result}.to({INPUT_DTYPE}))"
            return [
                *require(first.test, f"({INPUT_DTYPE} := {x}.dtype) is not None"),
                replace(value, fixed),
            ]
    raise AssertionError(ast.dump(node))


RULE = Rule(returns_what_it_computed_in, return_in_dtype_of_input, names=("base_layer", "dtype"))

KNOWN = {
    "peft.tuners.ia3.bnb:Linear8bitLt.forward": "",
    "peft.tuners.ia3.bnb:Linear4bit.forward": "",
    "peft.tuners.adalora.bnb:SVDLinear8bitLt.forward": "",
    "peft.tuners.randlora.bnb:Linear8bitLt.forward": ">=0.16",
    "peft.tuners.randlora.bnb:Linear4bit.forward": ">=0.16",
    "peft.tuners.vera.bnb:Linear8bitLt.forward": "<0.20",
    "peft.tuners.vera.bnb:Linear4bit.forward": "<0.20",
    "peft.tuners.road.bnb:Linear8bitLt.forward": ">=0.18",
    "peft.tuners.road.bnb:Linear4bit.forward": ">=0.18",
    "peft.tuners.pvera.bnb:Linear8bitLt.forward": ">=0.19",
    "peft.tuners.pvera.bnb:Linear4bit.forward": ">=0.19",
}

PATCH = Patch(
    id="peft-quantized-output-dtype",
    title="Adapters on quantized layers return the dtype that they are given",
    affects={"peft": ">=0.15"},
    changes=tuple(Rewrite(target, RULE, affects=versions) for target, versions in KNOWN.items()),
    # Most forwards of tuners have this shape; that a quantized layer has it is what matters, and
    # these return the dtype of their input.
    harmless={
        "peft.tuners.*layer:*.forward": "",
        "peft.tuners.lora.*:*.forward": "",
        "peft.tuners.adalora.bnb:SVDLinear4bit.forward": "",
        "peft.tuners.oft.*:*.forward": "",
        "peft.tuners.hira.bnb:*.forward": "",
    },
    upstream=(
        "https://github.com/huggingface/peft/pull/2433",
        "https://github.com/huggingface/peft/pull/864",
        "https://github.com/huggingface/peft/pull/2076",
    ),
    symptom="to have the same dtype",
    messages=("Expected query, key, and value to have the same dtype, but got query.dtype:",),
    caution="Where such a model ran all the same, because all that follows takes float32, its "
    "hidden states are half precision now, as those of LoRA on the same model are.",
)


def reproduce() -> None:
    """Run (IA)3 on the keys and values of a 4-bit bfloat16 model, without autocast."""
    import peft

    from patchkit.lab import quantized

    model = quantized.load_tiny("4bit")
    config = peft.IA3Config(
        target_modules=["k_proj", "v_proj"], feedforward_modules=[], task_type="CAUSAL_LM"
    )
    quantized.step(peft.get_peft_model(model, config))
