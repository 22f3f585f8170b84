"""`modules_to_save` of a layer that bitsandbytes has packed dies in `get_peft_model`.

`RuntimeError: only Tensors of floating point dtype can require gradients`: PEFT trains a copy of
the module, and copies the packed bytes. It shows where the head of a classifier is packed (see
`transformers-quantized-head`, which prevents that where it can): in a checkpoint that was saved in
4-bit or 8-bit, with `llm_int8_skip_modules` that does not name it, or in other layers of your
choice.

Fix: the copy is a plain layer with the values of the packed one. The module itself stays packed,
and computes where adapters are off. What is saved of the adapter is what PEFT saves of a plain
model, so it can be loaded onto either. After `merge_and_unload()` the plain layer takes the place
of the packed one, as with any `modules_to_save`, and `transformers-plain-layer-saved` lets that
model be saved and loaded.

Why: the copy begins with what the packed layer computes, so a new adapter changes no logits but by
rounding. Its dtype is that of the layer's bias or, without one, of the weight before it was packed.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, helper, replace

COPY = Pattern("copy.deepcopy(self.original_module)")
ORIGINAL_TRAINED = Pattern("self.original_module.requires_grad_(True)")


def make_trainable(site: ast.AST) -> list[Edit]:
    return _call("trainable_copy", site)


def train_what_is_plain(site: ast.AST) -> list[Edit]:
    return _call("train_original", site)


def _call(function: str, site: ast.AST) -> list[Edit]:
    assert isinstance(site, ast.expr)
    return [replace(site, f"{helper(f'{__package__}._unpacked:{function}')}(self)")]


WRAPPER = "peft.utils.other:ModulesToSaveWrapper"

PATCH = Patch(
    id="peft-packed-trained-copies",
    title="Copies that modules_to_save trains of packed layers are plain layers",
    affects={"peft": ">=0.15", "bitsandbytes": ">=0.46.1"},
    changes=(
        Rewrite(
            f"{WRAPPER}.update", Rule(COPY, make_trainable, names=("deepcopy", "original_module"))
        ),
        # Where adapters are switched off, old releases train the module itself.
        Rewrite(
            f"{WRAPPER}.enable_adapters",
            Rule(ORIGINAL_TRAINED, train_what_is_plain, names=("original_module",)),
            affects="<0.19",
        ),
    ),
    upstream=("https://github.com/huggingface/peft/issues/1720",),
    symptom="only Tensors of floating point dtype can require gradients",
    messages=("only Tensors of floating point dtype can require gradients",),
    caution="The values of the copy were rounded when they were packed. To train an unrounded "
    "layer, load the model from a plain checkpoint with `llm_int8_skip_modules`.",
)


def reproduce() -> None:
    """Train copies of packed layers, and compare the first logits with those of the base."""
    import peft
    import torch

    from patchkit.lab import quantized, shapes

    for kind in ("4bit", "8bit"):
        model = quantized.load_tiny(kind).eval()
        config = peft.LoraConfig(target_modules=["q_proj"], modules_to_save=["up_proj"])
        with torch.autocast("cpu", torch.bfloat16):
            before = shapes.forward(model).float()
            model = peft.get_peft_model(model, config)
            after = shapes.forward(model).float()
        error = float((after - before).norm() / before.norm())
        assert error < 0.1, f"the logits of a new adapter are off by {error:.2f}, relative"
        after.square().mean().backward()
        copies = [
            parameter
            for name, parameter in model.named_parameters()
            if "up_proj.modules_to_save" in name
        ]
        assert all(copy.grad is not None for copy in copies), "a copy is not trained"
