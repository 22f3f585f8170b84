"""Make the rule that several patches share: a layer gets its input in the dtype of its weight."""

from __future__ import annotations

import ast

from ..rewrite import Edit, Rule, helper, mentions, replace
from ..rewrite.edit import insert_after, span
from .autocast import spell_out_autocast

_INPUT = "_patchkit_input_of_layer"


def layer_input_rule(
    layer: str,
    cast: str = "in_dtype_of",
    given: tuple[str, ...] = (),
    *,
    norm: bool = False,
    autocasts: bool = True,
    in_a_row: bool = False,
) -> Rule:
    """Make a rule for `self.layer(x, ...)`.

    torch.compile cannot trace how rewritten code fetches a helper. So the edited code itself tests
    whether there is anything to cast, and fetches the helper only then: not where dtypes agree, the
    weight is packed or missing, the input holds indices, or autocast is on. A call that casts its
    input to the dtype of the layer's weight is not a site. torch.fx, whose proxies are not tensors,
    and TorchScript get the original call.

    Args:
        layer: an attribute of `self`. A function without that name costs one look at its code.
        cast: a function of `patchkit.precision.layer_input`. It is called with the layer and its
            input; `in_dtype_of_base` with `self` too.
        given: the variables or other expressions that the input may be; none allow any.
        norm: whether the layer is a norm. It refuses float32 beside a weight in half precision, and
            takes half precision beside one in float32. Autocast runs norms in float32, but for
            bfloat16 on a CPU.
        autocasts: whether autocast casts the input of such a layer, as it does not for batch norms.
        in_a_row: whether it may be a row of layers (`nn.Sequential`), of which the first counts.
    """
    kind = ("norm" if autocasts else "batch norm") if norm else ""
    first = f"next(iter(self.{layer}.children()), self.{layer})" if in_a_row else f"self.{layer}"

    def call(node: ast.AST) -> bool:
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="self"), attr=attr), args=[tensor, *_]
            ) if attr == layer and not isinstance(tensor, ast.Starred):
                left_alone = mentions(tensor, cast) or casts_for_itself(tensor)
                return not left_alone and (not given or ast.unparse(tensor) in given)
        return False

    def casts_for_itself(tensor: ast.AST) -> bool:
        """Tell whether an input is `x.to(self.layer.weight.dtype)`."""
        match tensor:
            case ast.Call(func=ast.Attribute(attr="to"), args=args, keywords=keywords):
                wanted = [*args, *(keyword.value for keyword in keywords)]
                return f"self.{layer}.weight.dtype" in map(ast.unparse, wanted)
        return False

    def hoisted(node: ast.AST) -> ast.Call | None:
        """Return the call whose input a statement computes first, but for a plain name."""
        if not isinstance(node, (ast.Assign, ast.Return, ast.Expr)):
            return None
        inner: ast.expr | None = node.value
        while inner is not None and not call(inner):
            inner = _computed_first(inner)
        if isinstance(inner, ast.Call) and not isinstance(inner.args[0], ast.Name):
            return inner
        return None

    def site(node: ast.AST) -> bool:
        return call(node) or hoisted(node) is not None

    def cast_input(node: ast.AST) -> list[Edit]:
        if isinstance(node, ast.Call):
            return cast_in_place(node)
        earliest = hoisted(node)
        assert isinstance(node, ast.stmt)
        assert earliest is not None
        start, _ = span(node)
        tensor = earliest.args[0]
        others = (inner for inner in ast.walk(node) if inner is not earliest and call(inner))
        return [
            Edit(start, start, f"{_INPUT} = {ast.unparse(tensor)}; "),
            replace(tensor, choice(_INPUT)),
            *(edit for inner in others for edit in cast_in_place(inner)),
        ]

    def cast_in_place(node: ast.AST) -> list[Edit]:
        assert isinstance(node, ast.Call)
        value = node.args[0]
        if isinstance(value, ast.Name):
            return [replace(value, choice(value.id))]
        # TorchScript does not know `:=`, but compiles none of the functions that need it:
        # `tests/patches/test_tracing.py` tries all of them.
        start, _ = span(value)
        tensor, *others = _unchanged(_INPUT, first, kind).partition(_INPUT)
        return [
            Edit(start, start, f"({_INPUT} if {tensor}({_INPUT} := "),
            insert_after(value, f"){others[1]} else {_cast(_INPUT, first, cast)})"),
        ]

    def choice(x: str) -> str:
        return _choice(x, first, cast, kind)

    return Rule(site, cast_input, names=(layer,), needs=("torch",))


def looped_layers_rule(layers: str, *names: str) -> Rule:
    """Make a rule for `for layer in self.layers: x = layer(x)`, to which the above applies.

    Args:
        layers: an attribute of `self`.
        names: attributes that such a loop mentions, too.
    """

    def inputs(node: ast.AST) -> list[tuple[str, ast.Name]]:
        """Return the name of a layer, and its input, of its calls with a plain name in a loop."""
        match node:
            case ast.For(target=ast.Name(id=layer), iter=row, body=body):
                pass
            case ast.ListComp(body, [ast.comprehension(ast.Name(id=layer), row)]):
                body = [ast.Expr(body)]
            case _:
                return []
        if ast.unparse(row) != f"self.{layers}" or not set(names) <= _attributes(node):
            return []
        found = []
        for call in (inner for statement in body for inner in ast.walk(statement)):
            match call:
                case ast.Call(func=ast.Name(id=called), args=[ast.Name() as x, *_]):
                    found += [(layer, x)] if called == layer else []
        return found

    def cast_inputs(node: ast.AST) -> list[Edit]:
        return [replace(x, _choice(x.id, layer, "in_dtype_of")) for layer, x in inputs(node)]

    return Rule(lambda node: bool(inputs(node)), cast_inputs, (layers, *names), ("torch",))


def _computed_first(expression: ast.expr) -> ast.expr | None:
    """Return the operand that an expression computes first."""
    match expression:
        case ast.Call(func=inner) | ast.BinOp(left=inner):
            return inner
        case ast.Attribute(value=inner) | ast.Subscript(value=inner):
            return inner
    return None


def _attributes(node: ast.AST) -> set[str]:
    return {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}


def masks_rule(given: str, embedding: str, norm: str) -> Rule:
    """Make a rule for attention masks that are made for numbers which a model embeds.

    A mask gets the dtype of the norm behind the embedding, as the states have that it is for.

    Args:
        given: the numbers.
        embedding: a layer of `self`, by which a function with such masks is known.
        norm: the norm, which is never packed.
    """

    def numbers(node: ast.AST) -> list[ast.Name]:
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name.endswith(
                "_mask"
            ):
                values = [*node.args, *(keyword.value for keyword in node.keywords)]
                return [inner for inner in values if ast.unparse(inner) == given]  # type: ignore[misc]
        return []

    def cast(node: ast.AST) -> list[Edit]:
        return [replace(x, _choice(given, f"self.{norm}", "in_dtype_of")) for x in numbers(node)]

    return Rule(lambda node: bool(numbers(node)), cast, (embedding, norm), ("torch",))


def _choice(x: str, layer: str, cast: str, kind: str = "") -> str:
    unless_scripted = f"({x} if {_unchanged(x, layer, kind)} else {_cast(x, layer, cast)})"
    return f"{x} if torch.jit.is_scripting() else {unless_scripted}"


def _cast(x: str, layer: str, cast: str) -> str:
    owner = ", self" if cast == "in_dtype_of_base" else ""
    return helper(f"patchkit.precision.layer_input:{cast}") + f"({layer}, {x}{owner})"


def _unchanged(x: str, layer: str, kind: str) -> str:
    """Return the condition under which a layer is given `x` itself; both are expressions.

    Fetching the weight of a module takes longest, so it is fetched only once if it is packed or
    missing. A dictionary, since it finds no dtype of a proxy, and TorchScript has no sets.
    """
    weight = f"{layer}.weight"
    dtype = f"getattr(getattr({layer}, 'weight', None), 'dtype', torch.int8)"
    autocast = spell_out_autocast(x)
    if kind == "batch norm":
        autocast = f"{x}.dtype is not torch.float32"
    elif kind:
        on_cpu = f"{x}.is_cpu and torch.get_autocast_dtype('cpu') is torch.bfloat16"
        autocast = f"{x}.dtype is not torch.float32 or {autocast} and not ({on_cpu})"
    return (
        f"not isinstance({x}, torch.Tensor) "
        f"or {dtype} in {{{x}.dtype: 0, torch.uint8: 0, torch.int8: 0}} "
        f"or not {x}.is_floating_point() or {autocast} "
        f"or not isinstance({weight}, torch.Tensor) or not {weight}.is_floating_point()"
    )
