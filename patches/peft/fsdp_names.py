"""Under FSDP an adapter is saved without weights, and a checkpoint is loaded without a word.

FSDP puts a module of its own around the model and each block, so names of layers have
`_fsdp_wrapped_module` in them, also in the middle; names in a state dictionary do not. PEFT drops
that part only where a name begins with it. From 0.21 on it takes names of layers to find what
belongs to an adapter: it finds nothing, so `adapter_model.safetensors` has no weights. From 0.20 on
it believes that a model around which FSDP is has other names of weights, so training that is
resumed begins with a new adapter. From 0.17 on `modules_to_save` inside a block raises `KeyError:
'modules_to_save.default.weight'`. FSDP2 (`fully_shard`) renames nothing.

Fix: the part is dropped wherever it stands.

Why: PEFT finds the weights of an adapter by the names of layers, and freezes all other weights by
the same names. FSDP keeps its part in the names of parameters, and drops it from those of a state
dictionary. So a wrapper adds the names without that part, and removes none.
"""

import ast
from collections.abc import Callable
from typing import Any

from patchkit.authoring import Edit, Patch, Rewrite, Rule, Wrap, replace

PART = "_fsdp_wrapped_module."


def drops_first_part(node: ast.AST) -> bool:
    """`if name.startswith(PART): name = name.removeprefix(PART)`, whatever the name is called."""
    match node:
        case ast.If(
            test=ast.Call(
                func=ast.Attribute(value=ast.Name(tested), attr="startswith"),
                args=[ast.Constant(value="_fsdp_wrapped_module.")],
            ),
            body=[
                ast.Assign(
                    targets=[ast.Name(assigned)],
                    value=ast.Call(
                        func=ast.Attribute(value=ast.Name(cut), attr="removeprefix"),
                        args=[ast.Constant(value="_fsdp_wrapped_module.")],
                    ),
                )
            ],
            orelse=[],
        ):
            return tested == assigned == cut
    return False


def drop_all_parts(node: ast.AST) -> list[Edit]:
    match node:
        case ast.If(
            test=ast.Call(func=ast.Attribute(value=ast.Name(name))) as test,
            body=[ast.Assign(value=cut)],
        ):
            quoted = repr(PART)
            return [
                replace(test, f"{quoted} in {name}"),
                replace(cut, f"{name}.replace({quoted}, '')"),
            ]
    raise AssertionError(ast.dump(node))


def asks_for_prefix(node: ast.AST) -> bool:
    """`any(name.startswith(prefix) for name, _ in model.named_parameters())`."""
    match node:
        case ast.Call(
            func=ast.Name("any"),
            args=[
                ast.GeneratorExp(
                    elt=ast.Call(func=ast.Attribute(value=ast.Name(), attr="startswith")),
                    generators=[
                        ast.comprehension(
                            iter=ast.Call(func=ast.Attribute(attr="named_parameters"))
                        )
                    ],
                )
            ],
        ):
            return True
    return False


def ask_below_wrapper(node: ast.AST) -> list[Edit]:
    match node:
        case ast.Call(
            args=[ast.GeneratorExp(elt=ast.Call(func=ast.Attribute(value=ast.Name(name) as given)))]
        ):
            return [replace(given, f"{name}.removeprefix({PART!r})")]
    raise AssertionError(ast.dump(node))


CUT = Rule(drops_first_part, drop_all_parts, names=("startswith", "removeprefix"))
ASK = Rule(asks_for_prefix, ask_below_wrapper, names=("named_parameters",))


def with_names_of_weights(
    wrapped: Callable[..., set[str]], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> set[str]:
    """Add the names that weights have to those that layers have, by which PEFT freezes others."""
    found = wrapped(*args, **kwargs)
    return found | {name.replace(PART, "") for name in found}


TUNERS = "peft.tuners.tuners_utils"
FILES = "peft.utils.save_and_load"

PATCH = Patch(
    id="peft-fsdp-names",
    title="Adapters under FSDP are saved with their weights, and loaded",
    affects={"peft": ">=0.17.1"},
    changes=(
        Wrap(
            f"{TUNERS}:_get_tuner_state_dict_key_prefixes", with_names_of_weights, affects=">=0.21"
        ),
        Rewrite(f"{TUNERS}:BaseTuner._get_learnable_bias_state_dict", CUT, affects=">=0.21"),
        Rewrite(f"{FILES}:get_peft_model_state_dict", CUT),
        Rewrite(f"{FILES}:set_peft_model_state_dict", CUT),
        Rewrite(f"{FILES}:set_peft_model_state_dict", ASK, affects=">=0.20"),
    ),
    harmless={f"{TUNERS}:_get_tuner_state_dict_key_prefixes": ""},  # its wrapper adds the names
    upstream=(
        "https://github.com/huggingface/peft/pull/3490",
        "https://github.com/huggingface/peft/pull/2681",
    ),
    symptom="modules_to_save.default.weight|the adapter is (saved|loaded) without",
    messages=("KeyError: 'modules_to_save.default.weight'",),
)


def reproduce() -> None:
    """Save adapters of a block that FSDP wraps, and load them: without and with a trained copy."""
    from torch import distributed

    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        for copies in ([], ["0.1"]):
            save_and_load(copies)
    finally:
        distributed.destroy_process_group()


def save_and_load(copies: list[str]) -> None:
    from functools import partial

    import peft
    import torch
    from torch import nn
    from torch.distributed.fsdp import FullyShardedDataParallel

    blocks = nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)))
    config = peft.LoraConfig(r=2, target_modules=["0.0"], modules_to_save=copies)
    model = peft.get_peft_model(blocks, config)
    weights = {name: value + 1 for name, value in peft.get_peft_model_state_dict(model).items()}
    wrapped = partial(FullyShardedDataParallel, use_orig_params=True, device_id=torch.device("cpu"))
    model.base_model.model[0] = wrapped(model.base_model.model[0])
    model = wrapped(model)
    missing = weights.keys() - peft.get_peft_model_state_dict(model).keys()
    assert not missing, f"the adapter is saved without {', '.join(sorted(missing))}"
    unused = peft.set_peft_model_state_dict(model, weights).unexpected_keys
    assert not unused, f"the adapter is loaded without {', '.join(unused)}"
