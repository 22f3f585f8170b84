"""Helpers that prepare a 4-bit model in a bf16 run make trainable parameters bfloat16 as well.

`peft_module_casting_to_bf16` casts all that stands below `lm_head` or an embedding: LoRA weights on
the head, and the copies that `modules_to_save` trains. `prepare_peft_model`, from TRL 1.9, casts
every float32 parameter, adapters included. The optimizer then holds bfloat16 weights, and updates
smaller than 1/256 of a weight are rounded away. (In no release measured does either of them cast
in a run that is not bf16.)

Fix: what is frozen is cast as before; what is trained keeps its dtype, unless the user chose
upstream's cast or the parameters are sharded, and only where training is in bfloat16.

Why: the condition was right all along. In every release from 0.18.0 the helpers cast only if
`args.bf16` is true, and TRL sets it if neither bf16 nor fp16 was given. Only what they cast is
wrong.
"""

import ast

from patchkit.authoring import (
    Edit,
    Patch,
    Pattern,
    Rewrite,
    Rule,
    helper,
    mentions,
    replace,
    require,
)
from patchkit.precision.adapters import ADAPTER_CAST

from ._bfloat16_cast import CAST

IS_FLOAT32 = Pattern("P.dtype == torch.float32")
WHOLE_MODULE = Pattern("M = M.to(torch.bfloat16)")
MAY_CAST = "may_become_bfloat16"


def casts_any_float32(node: ast.AST) -> bool:
    match node:
        case ast.If(test=test, body=[cast], orelse=[]):
            return IS_FLOAT32(test) and CAST(cast)
    return False


def ask_for_each(node: ast.AST) -> list[Edit]:
    match node:
        case ast.If(test=ast.Compare(left=ast.Attribute(value=parameter)) as test):
            ask = helper(f"patchkit.precision.adapters:{MAY_CAST}")
            return require(test, f"{ask}({ast.unparse(parameter)}, args)")
    raise AssertionError(ast.dump(node))


def casts_whole_module(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name()]):
            return WHOLE_MODULE(node)
    return False


def cast_frozen_only(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Assign)
    cast = helper("patchkit.precision.adapters:cast_frozen_to_bfloat16")
    return [replace(node.value, f"{cast}({ast.unparse(node.targets[0])})")]


def casts_unconditionally(node: ast.AST) -> bool:
    return casts_any_float32(node) and not mentions(node, MAY_CAST)


PARAMETERS = Rule(casts_unconditionally, ask_for_each, names=("bfloat16", "float32", "data"))
MODULES = Rule(casts_whole_module, cast_frozen_only, names=("bfloat16", "named_modules"))

PATCH = Patch(
    id="trl-peft-helper-bf16-cast",
    title="TRL's PEFT helpers leave trainable parameters alone",
    affects={"trl": ">=0.12"},
    changes=(
        Rewrite("trl.trainer.utils:peft_module_casting_to_bf16", MODULES, affects="<0.27"),
        Rewrite("trl.models.utils:peft_module_casting_to_bf16", MODULES, affects=">=0.22,<0.29"),
        Rewrite("trl.experimental.utils:peft_module_casting_to_bf16", MODULES, affects=">=0.29"),
        Rewrite("trl.experimental.utils:prepare_peft_model", PARAMETERS, affects=">=1.9"),
    ),
    upstream=(
        "https://github.com/huggingface/trl/pull/1110",
        "https://github.com/huggingface/trl/pull/6343",
    ),
    symptom="trainable parameters became bfloat16",
    caution="Trained heads and embeddings stay float32 in bf16 runs: twice the memory for them, "
    'their gradients and optimizer states. `apply(adapter_cast="bf16")` keeps the cast.',
    settings=(ADAPTER_CAST,),
)


def reproduce() -> None:
    """Prepare a 4-bit model whose head is trained, as CPO, ORPO and others do in bf16."""
    from patchkit.authoring import four_bit_model_with_trained_head, import_first

    prepare = import_first(
        "peft_module_casting_to_bf16",
        ("trl.experimental.utils", "trl.models.utils", "trl.trainer.utils"),
    )
    model = four_bit_model_with_trained_head()
    prepare(model)
    cast = [
        name
        for name, parameter in model.named_parameters()
        if parameter.requires_grad and str(parameter.dtype) == "torch.bfloat16"
    ]
    assert not cast, f"trainable parameters became bfloat16: {cast}"
