"""A rule that several patches share: calls of a layer get an input of the layer's dtype."""

from __future__ import annotations

import ast

from ..rewrite import Edit, Rule, helper, mentions
from ..rewrite.edit import insert_after, span

_INPUT, _WEIGHT = "_input_of_layer", "_weight_of_layer"


def calls_of(layer: str, cast: str = "in_dtype_of", argument: str | None = None) -> Rule:
    """A rule for `self.layer(x, ...)`.

    torch.compile cannot trace how rewritten code fetches a helper, so the edit spells out where
    nothing is to be done, and none is fetched there: dtypes agree, the weight is packed or not
    there, the input are indices, autocast is on.

    Args:
        layer: an attribute of `self`. A function without that name costs one look at its code.
        cast: a function of `patchkit.precision.layer_input`. It is called with the layer and its
            input; `in_dtype_of_base` with `self` too.
        argument: the only name that the input may have; whatever it is, if None.
    """
    fetched = helper(f"patchkit.precision.layer_input:{cast}")
    owner = ", self" if cast == "in_dtype_of_base" else ""
    weight = f"({_WEIGHT} := getattr(self.{layer}, 'weight', None))"
    before = f"({_INPUT} if ({_INPUT} := "
    after = (
        f").dtype == getattr({weight}, 'dtype', {_INPUT}.dtype) "
        f"or not {_WEIGHT}.is_floating_point() or not {_INPUT}.is_floating_point() "
        f"or torch.is_autocast_enabled({_INPUT}.device.type) "
        f"else {fetched}(self.{layer}, {_INPUT}{owner}))"
    )

    def call(node: ast.AST) -> bool:
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="self"), attr=attr), args=[given, *_]
            ) if not isinstance(given, ast.Starred):
                named = argument is None or ast.unparse(given) == argument
                return attr == layer and named and not mentions(given, _INPUT)
        return False

    def cast_input(node: ast.AST) -> list[Edit]:
        assert isinstance(node, ast.Call)
        start, _ = span(node.args[0])
        return [Edit(start, start, before), insert_after(node.args[0], after)]

    return Rule(call, cast_input, names=(layer,), needs=("torch",))
