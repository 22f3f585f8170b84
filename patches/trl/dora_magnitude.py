"""DoRA's magnitude vectors do not learn, and nothing says so.

The trainer gives every trainable parameter of a quantized model bfloat16, DoRA's magnitudes among
them. They start as the norms of whole rows of weights, and an update that is smaller than 1/256 of
its value is rounded away: with usual learning rates that is all of them. TRL leaves the magnitudes
out from 1.15 on.

Fix: so they are before. Where FSDP or DeepSpeed shards the parameters the cast stays, as all of
`trl-adapter-bf16-cast` does; that patch, where it is applied, leaves nothing to fix in one
process, but for `adapter_cast="bf16"`.

Why: this patch edits what the loop runs over, and `trl-adapter-bf16-cast` edits the condition
around the loop, so either can be applied and reverted without the other. Sharded magnitudes are
still cast, since FSDP2 needs one dtype among the parameters that a group trains.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, helper, replace

from ._bfloat16_cast import ALL_PARAMETERS, CAST, TRAINERS

IS_TRAINED = Pattern("P.requires_grad")


def cast_of_all_that_is_trained(node: ast.AST) -> bool:
    match node:
        case ast.For(iter=parameters, body=[ast.If(test=test, body=[cast])]):
            return ALL_PARAMETERS(parameters) and IS_TRAINED(test) and CAST(cast)
    return False


def leave_out_magnitudes(node: ast.AST) -> list[Edit]:
    match node:
        case ast.For(iter=ast.Call(func=ast.Attribute(value=model)) as parameters):
            others = helper("patchkit.precision.adapters:parameters_to_cast")
            return [replace(parameters, f"{others}({ast.unparse(model)}, args)")]
    raise AssertionError(ast.dump(node))


RULE = Rule(cast_of_all_that_is_trained, leave_out_magnitudes, names=("bfloat16", "requires_grad"))

PATCH = Patch(
    id="trl-dora-magnitude",
    title="DoRA's magnitude vectors stay float32, and learn",
    affects={"trl": ">=0.26,<1.15"},
    changes=tuple(Rewrite(target, RULE, affects=versions) for target, versions in TRAINERS.items()),
    upstream=(
        "https://github.com/huggingface/trl/issues/7268",
        "https://github.com/huggingface/trl/pull/7273",
    ),
    symptom="did not learn",
)


def reproduce() -> None:
    """Train QDoRA in bf16 at a learning rate whose updates are 1/1000 of a magnitude."""
    from patchkit.authoring import train_in_temporary_folder

    result = train_in_temporary_folder(
        "reward",
        precision="bf16",
        quantization="4bit",
        lora={"use_dora": True},
        args={"learning_rate": 1e-3},
    )
    trained = sum(result.trainable_dtypes.values())
    assert result.changed == trained, f"{trained - result.changed} of {trained} did not learn"
