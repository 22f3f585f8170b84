"""A quantized model casts its activations to bytes, and goes on with what is left of them.

Nothing is raised: LongT5 in 4-bit has logits that are off by more than their own size, and SigLIP 2
looks at bytes made of its pixels. Elsewhere something stops later: `Expected a floating point or
complex tensor as input. Got Byte` (ColPali), `data set to a tensor that requires gradients must be
floating point` (8-bit), or `result type Float can't be cast to the desired output type Byte` in
training. Layers are given `x.to(self.layer.weight.dtype)`: of a quantized weight that is the dtype
of its packed bytes: uint8, int8, or the one of `bnb_4bit_quant_storage`.

Fix: where the weight is packed, the cast is to the dtype that it had before, which is the one that
a 4-bit weight dequantizes to. An 8-bit weight remembers none: a bias in half precision tells, and
without one nothing is cast. bitsandbytes takes each floating dtype and gives it back.

Why: upstream's own fix in Gemma 4 leaves the input as it is (`is_floating_point`), so float32
pixels pass uncast, and so does storage in a floating dtype. With the dtype that the weight
dequantizes to, all dtypes are those of the dequantized model. Without the CPU's own kernel, tiny
models of eight families differed from it by less than 0.0001, relative, and Switch Transformers by
0.0076. Patch embeddings that are convolutions have the same code as linear ones (SigLIP and SigLIP
2), and a rule sees one function: so they are edited too, and do what they did.
"""

import ast
from collections.abc import Callable, Iterator

from patchkit.authoring import Edit, Patch, Rewrite, Rule, replace, walk

from ._packed_activations import activation_dtype


def weight_of_layer(node: ast.AST) -> bool:
    """`self.layer.weight`, and not a weight of `self`, which no quantizer packs."""
    match node:
        case ast.Attribute(attr="weight", value=layer):
            return is_part_of_self(layer)
    return False


def first_parameter(node: ast.AST) -> bool:
    """`next(self.layers.parameters())`."""
    match node:
        case ast.Call(
            func=ast.Name(id="next"),
            args=[ast.Call(func=ast.Attribute(attr="parameters", value=layers), args=[])],
        ):
            return is_part_of_self(layers)
    return False


def is_part_of_self(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=name)):
            return name == "self"
        case ast.Attribute(value=owner) | ast.Subscript(value=owner):
            return is_part_of_self(owner)
    return False


def activations_rule(weight: Callable[[ast.AST], bool], *names: str) -> Rule:
    """Make a rule for functions with a cast to the dtype of such a weight.

    Args:
        weight: matches the expression of a weight.
        *names: names that such an expression mentions.
    """

    def dtype_of_weight(node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and node.attr == "dtype" and weight(node.value)

    def dtypes(function: ast.FunctionDef) -> Iterator[ast.Attribute]:
        """Yield the dtypes that something is cast to, by a variable or without."""
        variables: dict[str, list[ast.Attribute]] = {}
        for node in walk(function):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute() as value) if (
                    dtype_of_weight(value)
                ):
                    variables.setdefault(name, []).append(value)
                case _:
                    yield from filter(dtype_of_weight, casts_to(node))
        for name, (dtype, *others) in variables.items():
            if not others and serves_casts_only(function, name):
                yield dtype

    def site(node: ast.AST) -> bool:
        return isinstance(node, ast.FunctionDef) and any(True for _ in dtypes(node))

    def cast_to_unpacked(node: ast.AST) -> list[Edit]:
        assert isinstance(node, ast.FunctionDef)
        return [replace(dtype, spell_out(dtype)) for dtype in dtypes(node)]

    return Rule(site, cast_to_unpacked, names=("dtype", "to", *names), needs=("torch",))


def casts_to(node: ast.AST) -> list[ast.expr]:
    """Return the arguments of `x.to(…)`, and nothing for other code."""
    match node:
        case ast.Call(func=ast.Attribute(attr="to"), args=arguments, keywords=keywords):
            return [*arguments, *(keyword.value for keyword in keywords)]
    return []


def serves_casts_only(function: ast.FunctionDef, name: str) -> bool:
    """Tell whether a variable is bound once, and used in `x.to(…)` and comparisons alone."""

    def named(nodes: list[ast.expr]) -> int:
        return sum(isinstance(node, ast.Name) and node.id == name for node in nodes)

    everywhere, known = 0, 0
    for node in walk(function):
        known += named(casts_to(node))
        match node:
            case ast.Name(id=mentioned):
                everywhere += mentioned == name
            case ast.Compare(left=left, comparators=others):
                known += named([left, *others])
    bound = 1
    return everywhere == bound + known


def spell_out(dtype: ast.Attribute) -> str:
    # Spelled out, so that plain weights fetch no helper; torch.compile traces this way to the one
    # for packed weights. TorchScript keeps upstream's code, as do proxies of torch.fx.
    weight, upstream = ast.unparse(dtype.value), ast.unparse(dtype)
    layer = ", " + weight.removesuffix(".weight") if weight.endswith(".weight") else ""
    module = f"torch.sys.modules[{activation_dtype.__module__!r}]"
    return (
        f"({upstream} if torch.jit.is_scripting() else ({upstream} "
        f"if not isinstance({weight}, torch.Tensor) or {weight}.is_floating_point() "
        f"and {weight}.dtype.itemsize > 1 and not hasattr({weight}, 'quant_state') "
        f"else {module}.activation_dtype({weight}{layer})))"
    )


LAYER = activations_rule(weight_of_layer, "weight")
FIRST_PARAMETER = activations_rule(first_parameter, "next", "parameters")

PATCH = Patch(
    id="transformers-packed-activations",
    title="Activations are cast to the dtype of a quantized weight's values, not of its bytes",
    affects={"transformers": ">=4.46.3", "bitsandbytes": ">=0.46.1"},
    changes=(
        *(
            Rewrite("transformers.models.*.modeling_*:*.*", rule)
            for rule in (LAYER, FIRST_PARAMETER)
        ),
        Rewrite("transformers.fusion_mapping:*.forward", LAYER),
    ),
    harmless={
        # Modeling files are generated from these, and nothing imports them.
        "transformers.models.*.modular_*:*.*": "",
        # A convolution and an embedding, which nothing packs.
        "transformers.models.idefics.vision:IdeficsVisionEmbeddings.forward": "",
        "transformers.models.diffusion_gemma.generation_*:*._denoising_step": "",
    },
    upstream=(
        "https://github.com/huggingface/transformers/issues/46932",
        "https://github.com/huggingface/transformers/pull/46904",
        "https://github.com/huggingface/transformers/issues/45672",
    ),
    symptom="the logits of a 4-bit model are off by|floating point|cast to the desired output type",
    messages=(
        "linalg.vector_norm: Expected a floating point or complex tensor as input. Got Byte",
        "data set to a tensor that requires gradients must be floating point or complex dtype",
        "result type Float can't be cast to the desired output type Byte",
    ),
)

_LARGEST_ERROR = 0.1


def reproduce() -> None:
    """Compare the logits of a tiny 4-bit LongT5 with those of what it dequantizes to."""
    import copy

    import torch
    import transformers

    from patchkit.lab import quantized, shapes

    config = transformers.LongT5Config(
        vocab_size=64,
        d_model=64,
        d_kv=16,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        local_radius=4,
        decoder_start_token_id=0,
        pad_token_id=0,
    )
    torch.manual_seed(0)
    plain = transformers.LongT5ForConditionalGeneration(config)
    model = quantized.reload(plain, dtype="bfloat16", compute_dtype="bfloat16")
    with torch.no_grad():
        expected = shapes.forward(copy.deepcopy(model).dequantize()).float()
        logits = shapes.forward(model.eval()).float()
    error = ((logits - expected).norm() / expected.norm()).item()
    assert error < _LARGEST_ERROR, f"the logits of a 4-bit model are off by {error:.1f}, relative"
