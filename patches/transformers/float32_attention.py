"""FNet, MRA, YOSO and Autoformer compute a part of attention in float32, and hand that on.

FNet in half precision: `Unsupported dtype BFloat16` from its Fourier transforms, which take half
precision on a GPU only, in sizes that are powers of two; under bfloat16 autocast their float32
reaches a norm of bfloat16. MRA without autocast: `mat1 and mat2 must have the same dtype, but got
Float and BFloat16` in the layer after its attention, and `mixed dtype (CPU)` in the norm after a
quantized one. YOSO under fp16: `expected m1 and m2 to have the same dtype, but got: float !=
c10::Half` in its own backward pass, which has no autocast, and multiplies what autocast computed in
float32 by what it computed in float16. Autoformer transforms its queries and keys as FNet does, and
adds its values up in float32.

Fix: FNet and Autoformer transform in float32; they and MRA hand on the dtype that they were given;
and YOSO's backward pass multiplies in the dtype of its first factor. Where dtypes agree, nothing
changes.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, insert_after, replace

TRANSFORMED = Pattern("self.fourier_transform(X).real")
SPECTRUM = Pattern("torch.fft.rfft(X, n=N, dim=D)")
PRODUCT = Pattern("torch.matmul(A, B)")


def transform_of_input(node: ast.AST) -> bool:
    """`self.fourier_transform(hidden_states).real`."""
    match node:
        case ast.Attribute(value=ast.Call(args=[ast.Name()])):
            return TRANSFORMED(node)
    return False


def transform_float32(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Attribute)
    assert isinstance(node.value, ast.Call)
    x = node.value.args[0]
    return [widened(x), insert_after(node, f".to({ast.unparse(x)}.dtype)")]


def widened(node: ast.expr) -> Edit:
    x = ast.unparse(node)
    return replace(node, f"{x} if {x}.dtype is torch.float64 else {x}.float()")


def sum_of_spectra(node: ast.AST) -> bool:
    """A function with `torch.fft.rfft(query, …)`, whose sum of values is float32."""
    return isinstance(node, ast.FunctionDef) and any(map(spectrum, ast.walk(node)))


def spectrum(node: ast.AST) -> bool:
    match node:
        case ast.Call(args=[ast.Name()]):
            return SPECTRUM(node)
    return False


def sum_in_dtype_of_input(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.FunctionDef)
    given = node.args.args[1].arg
    edits = []
    for inner in ast.walk(node):
        match inner:
            case ast.Call(args=[x]) if spectrum(inner):
                edits.append(widened(x))
            case ast.Assign(value=ast.Call(func=ast.Attribute(ast.Name("delays_agg"), _))):
                edits.append(insert_after(inner.value, f".to({given}.dtype)"))
    return edits


def attention_of_float32(node: ast.AST) -> bool:
    """A function with `context = attend(query.float(), …)`."""
    return isinstance(node, ast.FunctionDef) and any(map(attends, ast.walk(node)))


def attends(node: ast.AST) -> bool:
    match node:
        case ast.Assign(
            value=ast.Call(
                func=ast.Name(), args=[ast.Call(func=ast.Attribute(attr="float"), args=[]), *_]
            )
        ):
            return True
    return False


def return_dtype_of_input(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.FunctionDef)
    given = node.args.args[1].arg
    found = [inner for inner in ast.walk(node) if isinstance(inner, ast.Assign) and attends(inner)]
    return [insert_after(inner.value, f".to({given}.dtype)") for inner in found]


def backward_with_products(node: ast.AST) -> bool:
    """A `backward` with `torch.matmul(weights, scale * key)`, whose second factor has no cast."""
    match node:
        case ast.FunctionDef(name="backward"):
            return any(map(product_of_any_dtypes, ast.walk(node)))
    return False


def product_of_any_dtypes(node: ast.AST) -> bool:
    match node:
        case ast.Call(args=[_, ast.Call(func=ast.Attribute(attr="type_as"))]):
            return False
    return PRODUCT(node)


def multiply_in_dtype_of_first(node: ast.AST) -> list[Edit]:
    edits = []
    for product in filter(product_of_any_dtypes, ast.walk(node)):
        assert isinstance(product, ast.Call)
        first, second = product.args
        name = next(inner.id for inner in ast.walk(first) if isinstance(inner, ast.Name))
        edits.append(replace(second, f"({ast.unparse(second)}).type_as({name})"))
    return edits


FOURIER = Rule(
    transform_of_input, transform_float32, names=("fourier_transform",), needs=("torch",)
)
ATTENTION = Rule(attention_of_float32, return_dtype_of_input, names=("mra2_attention", "float"))
SPECTRA = Rule(sum_of_spectra, sum_in_dtype_of_input, names=("rfft",), needs=("torch",))
BACKWARD = Rule(backward_with_products, multiply_in_dtype_of_first, names=("matmul",))

MODELS = "transformers.models"
SOURCE = "src/transformers/models/fnet/modeling_fnet.py"

PATCH = Patch(
    id="transformers-float32-attention",
    title="FNet, MRA, YOSO and Autoformer hand on their attention in the dtype of the model",
    affects={"transformers": ">=4.46.3"},
    changes=(
        Rewrite(f"{MODELS}.fnet.modeling_fnet:FNetBasicFourierTransform.forward", FOURIER),
        Rewrite(f"{MODELS}.mra.modeling_mra:MraSelfAttention.forward", ATTENTION),
        Rewrite(f"{MODELS}.yoso.modeling_yoso:YosoCumulation.backward", BACKWARD),
        Rewrite(f"{MODELS}.autoformer.modeling_autoformer:AutoformerAttention.forward", SPECTRA),
    ),
    # Only a kernel comes there, and it was not run.
    harmless={f"{MODELS}.yoso.modeling_yoso:YosoLSHCumulation.backward": ""},
    upstream=("https://github.com/huggingface/transformers/blob/v5.23.0/" + SOURCE,),
    symptom="Unsupported dtype|the same dtype, but got|mixed dtype",
    messages=(
        "Unsupported dtype BFloat16",
        "Unsupported dtype Half",
        "mat1 and mat2 must have the same dtype, but got Float and BFloat16",
        "mat1 and mat2 must have the same dtype, but got Float and Half",
        "mixed dtype (CPU): expect parameter to have scalar type of Float",
        "expected m1 and m2 to have the same dtype, but got: float != c10::Half",
    ),
    caution="A float16 FNet or Autoformer on a GPU, whose sizes are powers of two, ran without it: "
    "its Fourier transforms are computed in float32 now, and rounded afterwards.",
)


def reproduce() -> None:
    """Give a tiny bfloat16 FNet two rows of words."""
    import torch
    import transformers

    from patchkit.authoring import device

    sizes = dict.fromkeys(("vocab_size", "hidden_size", "intermediate_size"), 32)
    config = transformers.FNetConfig(**sizes, num_hidden_layers=1, max_position_embeddings=16)
    torch.manual_seed(0)
    model = transformers.FNetModel(config).bfloat16().to(device()).eval()
    ids = torch.arange(3, 19, device=device()).reshape(2, 8)
    with torch.no_grad():
        hidden = model(input_ids=ids).last_hidden_state
    assert hidden.dtype == torch.bfloat16
