"""A float32 norm in a half-precision model stops the forward where no autocast is on.

`RuntimeError: expected m1 and m2 to have the same dtype, but got: float != c10::BFloat16` from the
first linear layer after a norm whose weight is float32: by hand (`.float()`), by
`_keep_in_fp32_modules`, or by `prepare_model_for_kbit_training` with other modules cast back. Its
last step, the product with its weight, makes the half-precision numbers float32.

Fix: what comes out has the dtype of what went in. The norm computes in float32 as before. Under
autocast, and where nothing but float32 comes in, nothing changes.

Why: one structural rule finds each `forward` that returns a product with `self.weight` uncast.
There is no list of classes, so a new model family is covered from its first day, and families that
already cast (Gemma, GPT-OSS) have no site. The rewrite serves models that are loaded already,
copies and pickles. A hook in `PreTrainedModel` would miss models that are loaded or cast later. A
cast in `nn.Linear` would change torch for everybody, and miss attention and caches. Under autocast
nothing is done, because some set-ups want the float32 residual stream. T5 is the exception: its
float16 model has a float32 `wo`, so there the dtype of the next layer counts.
"""

import ast
from collections.abc import Iterator
from itertools import chain

from patchkit.authoring import Edit, Patch, Rewrite, Rule, span, walk
from patchkit.precision.autocast import spell_out_autocast
from patchkit.precision.input_rule import layer_input_rule

GIVEN, NORMED = "_patchkit_dtype_given", "_patchkit_normed"
# Spelled out, since torch.compile cannot trace how rewritten code fetches a helper; statements
# without `:=`, which TorchScript lacks. It compiles nothing beside a condition that is fixed,
# so what it makes is upstream's; and so is what torch.fx makes, whose proxies are no tensors.
RETURN = (
    f"; return {NORMED} if torch.jit.is_scripting() else "
    f"({NORMED} if {NORMED}.dtype is {GIVEN} or not isinstance({NORMED}, torch.Tensor) "
    f"or {NORMED}.dtype.itemsize <= {GIVEN}.itemsize or {spell_out_autocast(NORMED)} "
    f"else {NORMED}.to({GIVEN}))"
)


def norm_that_ends_with_its_weight(node: ast.AST) -> bool:
    """`forward` of a norm that returns a product with its weight and casts nothing after it."""
    match node:
        case ast.FunctionDef(name="forward", args=ast.arguments(args=[_, _, *_])):
            return any(True for _ in returned_products(node)) and isinstance(
                first_statement(node), ast.Assign
            )
    return False


def returned_products(function: ast.FunctionDef) -> Iterator[ast.Return]:
    for inner in walk(function):
        if isinstance(inner, ast.Return) and inner.value and "self.weight" in factors(inner.value):
            yield inner


def factors(product: ast.expr) -> list[str]:
    """Return the factors of a product; of anything else none."""
    match product:
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            sides = (factors(side) or [ast.unparse(side)] for side in (left, right))
            return list(chain.from_iterable(sides))
    return []


def first_statement(function: ast.FunctionDef) -> ast.stmt:
    first, *others = function.body
    return others[0] if ast.get_docstring(function) and others else first


def return_input_dtype(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.FunctionDef)
    begin, _ = span(first_statement(node))
    edits = [Edit(begin, begin, f"{GIVEN} = {node.args.args[1].arg}.dtype; ")]
    for statement in returned_products(node):
        (row, column), end = span(statement)
        keyword = Edit((row, column), (row, column + len("return")), f"{NORMED} =")
        edits += [keyword, Edit(end, end, RETURN)]
    return edits


RULE = Rule(
    norm_that_ends_with_its_weight, return_input_dtype, names=("weight", "rsqrt"), needs=("torch",)
)

# In float16 T5's `wo` stays float32, and so all that comes to the norms after it is float32: there
# the next layer says what the dtype is.
AFTER_NORM_OF_T5 = {name: layer_input_rule(name) for name in ("q", "k", "v", "wi", "wi_0", "wi_1")}

PATCH = Patch(
    id="transformers-norm-output-dtype",
    title="Norms with float32 weights return the dtype of their input",
    affects={"transformers": ">=4.46.3"},
    changes=(
        Rewrite("transformers.models.*.modeling_*:*.forward", RULE),
        *(
            Rewrite("transformers.models.*t5.modeling_*:*.forward", rule, sites=None)
            for rule in AFTER_NORM_OF_T5.values()
        ),
    ),
    # Modeling files are generated from these, and nothing imports them.
    harmless={"transformers.models.*.modular_*:*.*": ""},
    upstream=(
        "https://github.com/huggingface/peft/issues/1515",
        "https://github.com/huggingface/transformers/issues/30914",
        "https://github.com/NVIDIA-NeMo/Automodel/issues/1632",
    ),
    symptom="have the same dtype, but got",
    messages=(
        "expected m1 and m2 to have the same dtype, but got:",
        "mat1 and mat2 must have the same dtype, but got",
    ),
    caution="A model whose linear layers are all quantized took the float32 and went on in it; "
    "without autocast its hidden states are now in half precision, as with half-precision norms.",
)


def reproduce() -> None:
    """Generate with a tiny bfloat16 Llama whose norms are float32."""
    from patchkit.authoring import device
    from patchkit.lab import shapes

    model = shapes.build("llama").bfloat16().to(device())
    assert shapes.norms_in_float32(model)
    shapes.generate(model)
