"""An adapter loaded with `low_cpu_mem_usage=True` brings weights of another dtype into the model.

`RuntimeError: ... must have the same dtype` in the first forward of a bfloat16 model whose adapter
was trained in float32 with `modules_to_save`, or with resized embeddings. Without the option all is
well. With it, `load_state_dict(assign=True)` puts the checkpoint's tensors themselves into the
model, which is right for adapter weights, made on the meta device a moment before, and wrong for
those that have a dtype and a device already.

Fix: what takes the place of a weight that has numbers takes its dtype and device too, as without
the option.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, helper, replace

ASSIGNS = Pattern("M.load_state_dict(S, strict=False, assign=True)")


def assigns_as_it_comes(node: ast.AST) -> bool:
    match node:
        case ast.Call(args=[ast.Name()]):
            return ASSIGNS(node)
    return False


def match_model(node: ast.AST) -> list[Edit]:
    match node:
        case ast.Call(func=ast.Attribute(value=model), args=[state]):
            like = helper(f"{__package__}._assigned_state:cast_like_model")
            return [replace(state, f"{like}({ast.unparse(state)}, {ast.unparse(model)})")]
    raise AssertionError(ast.dump(node))


PATCH = Patch(
    id="peft-low-cpu-load-dtype",
    title="Adapters loaded with low_cpu_mem_usage leave the model in its dtype",
    affects={"peft": ">=0.15"},
    changes=(
        Rewrite(
            "peft.utils.save_and_load:set_peft_model_state_dict",
            Rule(assigns_as_it_comes, match_model, names=("load_state_dict",)),
        ),
    ),
    upstream=("https://github.com/huggingface/peft/pull/3509",),
    symptom="(must|to) have the same dtype",
    messages=(
        "mat1 and mat2 must have the same dtype, but got",
        "expected m1 and m2 to have the same dtype, but got:",
    ),
    caution="A module that was trained in float32 is in the dtype of the model that it is loaded "
    "onto, for training too, as it is without the option.",
)


def reproduce() -> None:
    """Train nothing: save a float32 adapter with a module, and load it onto a bfloat16 model."""
    import tempfile

    import peft
    import torch

    from patchkit.authoring import device

    def base() -> torch.nn.Module:
        # PEFT loads adapters onto a GPU if there is one.
        return torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 2)).to(device())

    config = peft.LoraConfig(target_modules=["0"], modules_to_save=["1"])
    with tempfile.TemporaryDirectory() as folder:
        peft.get_peft_model(base(), config).save_pretrained(folder)
        model = peft.PeftModel.from_pretrained(base().bfloat16(), folder, low_cpu_mem_usage=True)
    inputs = torch.ones(1, 8, dtype=torch.bfloat16, device=device())
    assert model(inputs).dtype == torch.bfloat16
