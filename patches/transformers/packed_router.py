"""LongCat-Flash in 4-bit stops in its first forward; in 8-bit its router reads bytes.

`RuntimeError: mat1 and mat2 shapes cannot be multiplied (24x64 and 1x9216)`: the router multiplies
with `self.classifier.weight.type(torch.float32)`, and bitsandbytes has packed that weight. In 8-bit
the shapes fit: no error, and the logits of the router are those of bytes without their scales.

Fix: where the weight is packed, the layer is called, adapters included. A bias, which upstream
leaves out, is subtracted again.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, replace

PRODUCT = Pattern("F.linear(A.type(torch.float32), L.weight.type(torch.float32))", literal=("F",))


def multiplies_with_weight_of_layer(node: ast.AST) -> bool:
    match node:
        case ast.Assign(value=product) if PRODUCT(product):
            return PRODUCT.holes(product)["L"] != "self"
    return False


def call_packed_layer(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Assign)
    code = PRODUCT.holes(node.value)
    layer, inputs = code["L"], code["A"]
    is_plain = f"{layer}.weight.is_floating_point() and not hasattr({layer}.weight, 'quant_state')"
    bias = f"(0 if {layer}.bias is None else {layer}.bias)"
    called = f"({layer}({inputs}) - {bias}).type(torch.float32)"
    return [replace(node.value, f"({ast.unparse(node.value)} if {is_plain} else {called})")]


RULE = Rule(
    multiplies_with_weight_of_layer,
    call_packed_layer,
    names=("weight", "type", "float32", "linear"),
    needs=("torch",),
)

SOURCE = "src/transformers/models/longcat_flash/modeling_longcat_flash.py"

PATCH = Patch(
    id="transformers-packed-router",
    title="LongCat-Flash calls its quantized router, and multiplies with no packed bytes",
    affects={"transformers": ">=4.57.1", "bitsandbytes": ">=0.48.2"},
    changes=(
        Rewrite(
            "transformers.models.longcat_flash.modeling_longcat_flash:"
            "LongcatFlashTopkRouter.forward",
            RULE,
        ),
    ),
    harmless={
        # The model is made of it, and nothing imports it.
        "transformers.models.longcat_flash.modular_longcat_flash:LongcatFlashTopkRouter.*": ""
    },
    upstream=("https://github.com/huggingface/transformers/blob/v5.23.0/" + SOURCE,),
    symptom="mat1 and mat2 shapes cannot be multiplied|the router is off by",
    messages=("mat1 and mat2 shapes cannot be multiplied (24x64 and 1x9216)",),
)


def reproduce() -> None:
    """Ask a router in 8-bit and in 4-bit, and compare with what it was before."""
    import torch
    import transformers
    from bitsandbytes import nn as quantized
    from transformers.models.longcat_flash import modeling_longcat_flash

    from patchkit.authoring import device

    torch.manual_seed(0)
    config = transformers.LongcatFlashConfig(hidden_size=64)
    router = modeling_longcat_flash.LongcatFlashTopkRouter(config).eval()
    plain = router.classifier
    words = torch.randn(6, 64)

    def weights() -> torch.Tensor:
        """Return those of the chosen experts; releases return indices and logits, too."""
        with torch.no_grad():
            parts = router.to(device())(words.to(device()))
        numbers = [part for part in parts if part.is_floating_point()]
        return min(numbers, key=lambda part: part.shape[-1]).sort().values.cpu()

    expected = weights()
    for cls, options in (
        (quantized.Linear8bitLt, {"has_fp16_weights": False}),
        (quantized.Linear4bit, {"quant_type": "nf4"}),
    ):
        router.classifier = cls(64, plain.out_features, bias=False, **options)
        router.classifier.load_state_dict(plain.state_dict())
        distance = float((weights() - expected).norm() / expected.norm())
        assert distance < 0.2, f"the router is off by {distance:.2f}, relative"
