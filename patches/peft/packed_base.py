"""LoHa, LoKr, DeLoRA, SHiRA and RandLoRA stop on a quantized base, or merge something else.

The first three take packed bytes for the weight. In 4-bit: `shape '[2048, 1]' is invalid for input
of size 4096` (LoKr), `mat1 and mat2 shapes cannot be multiplied` (LoHa): their deltas have the
shape of the weight, and bytes have another one. DeLoRA measures the weight in `get_peft_model`, in
8-bit too: `linalg.vector_norm: Expected a floating point or complex tensor as input. Got Byte`.
SHiRA on an 8-bit base multiplies by float32 values; without autocast, as in `generate()`, `expected
m1 and m2 to have the same dtype`. RandLoRA multiplies its bases in another order to merge them than
in its forward: `mat1 and mat2 shapes cannot be multiplied`, and where a layer is as wide as high,
another product without a word.

Fix: deltas have the shape that the layer says, DeLoRA measures the values of a packed weight, SHiRA
multiplies in the dtype of its input, and RandLoRA as its layers on plain weights do.
`peft-merge-packed-base` merges the first three.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, helper, insert_after, replace

SHAPED = (Pattern("D.reshape(L.weight.shape)"), Pattern("tuple(L.weight.shape)"))
MEASURED = Pattern("torch.norm(W.data, dim=0)")
BASES = Pattern("update_B @ update_A")
MULTIPLIED = Pattern("F.linear(X, W, bias=B)", literal=("F",))


def is_plain(weight: str) -> str:
    # Spelled out, so that a compiled forward of plain weights fetches no helper.
    return f"{weight}.is_floating_point() and not hasattr({weight}, 'quant_state')"


def takes_shape_of_weight(node: ast.AST) -> bool:
    """`delta.reshape(base_layer.weight.shape)`, or `tuple(base_layer.weight.shape)`."""
    return any(pattern(node) for pattern in SHAPED)


def take_shape_of_layer(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    layer = next(pattern.holes(node)["L"] for pattern in SHAPED if pattern(node))
    shape = f"({layer}.out_features, {layer}.in_features)"
    weight = f"{layer}.weight"
    return [replace(node.args[0], f"{weight}.shape if {is_plain(weight)} else {shape}")]


def measure_values(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    weight = MEASURED.holes(node)["W"]
    values = helper(f"{__package__}._packed_values:values") + "(self.get_base_layer())"
    return [replace(node.args[0], f"{weight}.data if {is_plain(weight)} else {values}")]


def multiplies_by_name(node: ast.AST) -> bool:
    """`F.linear(x, new_weight, bias=self.base_layer.bias)`."""
    match node:
        case ast.Call(args=[_, ast.Name()]):
            return MULTIPLIED(node)
    return False


def multiply_in_dtype_of_input(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    return [insert_after(node.args[1], f".to({ast.unparse(node.args[0])}.dtype)")]


def multiplies_bases(node: ast.AST) -> bool:
    """`update = update_B @ update_A`."""
    return isinstance(node, ast.Assign) and BASES(node.value)


def multiply_as_forward(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Assign)
    return [replace(node.value, "(update_B.T @ update_A.T).T")]


SHAPE = Rule(takes_shape_of_weight, take_shape_of_layer, names=("weight", "shape"))
NORM = Rule(MEASURED, measure_values, names=("norm", "data"))
PRODUCT = Rule(multiplies_by_name, multiply_in_dtype_of_input, names=("linear", "get_delta_weight"))
ORDER = Rule(multiplies_bases, multiply_as_forward, names=("get_scaled_bases",))

TUNERS = "peft.tuners"

PATCH = Patch(
    id="peft-packed-base",
    title="LoHa, LoKr, DeLoRA, SHiRA and RandLoRA compute with the values of a quantized weight",
    affects={"peft": ">=0.17.1", "bitsandbytes": ">=0.48.2"},
    changes=(
        Rewrite(f"{TUNERS}.loha.layer:LoHaLayer.get_delta_weight", SHAPE),
        Rewrite(f"{TUNERS}.loha.layer:LoHaLayer.update_layer", SHAPE),
        Rewrite(f"{TUNERS}.lokr.layer:LoKrLayer.get_delta_weight", SHAPE),
        Rewrite(
            f"{TUNERS}.delora.layer:DeloraLayer.reset_delora_parameters", NORM, affects=">=0.18"
        ),
        Rewrite(f"{TUNERS}.shira.layer:Linear.forward", PRODUCT),
        Rewrite(f"{TUNERS}.randlora.bnb:Linear4bit.get_delta_weight", ORDER),
        Rewrite(f"{TUNERS}.randlora.bnb:Linear8bitLt.get_delta_weight", ORDER),
    ),
    harmless={
        # Convolutions, embeddings and prompts, which nothing packs.
        f"{TUNERS}.adalora.layer:SVDConv2d.*": "",
        f"{TUNERS}.lora.layer:Embedding.*": "",
        f"{TUNERS}.prefix_tuning.model:*.*": "",
    },
    upstream=("https://github.com/huggingface/peft/issues/2105",),
    symptom=(
        "is invalid for input of size|cannot be multiplied|vector_norm|"
        "m1 and m2 to have the same dtype"
    ),
    messages=(
        "is invalid for input of size",
        "mat1 and mat2 shapes cannot be multiplied",
        "linalg.vector_norm: Expected a floating point or complex tensor as input. Got Byte",
        "linalg.vector_norm: Expected a floating point or complex tensor as input. Got Char",
        "expected m1 and m2 to have the same dtype, but got: c10::BFloat16 != float",
    ),
)


def reproduce() -> None:
    """Train a LoKr adapter on a tiny 4-bit Llama for a step."""
    import peft

    from patchkit.lab import quantized

    model = quantized.load_tiny("4bit")
    config = peft.LoKrConfig(r=4, target_modules=["q_proj", "up_proj"])
    quantized.step(peft.get_peft_model(model, config))
