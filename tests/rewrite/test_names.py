"""A name that a rule brings into a function must be new there; one found in the source need not."""

from __future__ import annotations

import ast

import pytest

from patchkit.rewrite import Drift, Edit, Pattern, Rule, functions_in_file
from patchkit.rewrite.edit import insert_after, replace, span
from patchkit.rewrite.edited import edited_code

CALL = Pattern("f(X)")


def walrus(node: ast.AST) -> list[Edit]:
    """Brings in `_kept`."""
    assert isinstance(node, ast.Call)
    start, _ = span(node.args[0])
    return [Edit(start, start, "(_kept := "), insert_after(node.args[0], ").g(_kept)")]


def rebind(node: ast.AST) -> list[Edit]:
    """Binds whatever name it finds anew, on purpose."""
    assert isinstance(node, ast.Call)
    found = ast.unparse(node.args[0])
    return [replace(node, f"g({found} := h({found}))")]


def call_getattr(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    return [replace(node.func, "getattr(f, 'g')")]


def unedited(node: ast.AST) -> bool:
    return CALL(node) and not any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(node))


def result(source: str, edit, qualname: str = "f0", **options) -> object:
    (found,) = functions_in_file(source, "x.py", lambda name: name == qualname)
    rule = Rule(unedited, edit, **options)
    edits = [edit for site in rule.plan(found) for edit in site]
    assert edits
    return edited_code(found, edits, [rule], "x.py")


FILLER = "".join(f"    a{number} = {number}\n" for number in range(30))

TAKEN = {
    "assigned": "    _kept = 1\n",
    "read": "    g(_kept)\n",
    "deleted": "    del _kept\n",
    "global": "    global _kept\n",
    "imported": "    import _kept\n",
    "imported_below": "    import _kept.inner\n",
    "imported_as": "    import os as _kept\n",
    "handler": "    try: pass\n    except OSError as _kept: pass\n",
    "function": "    def _kept(): pass\n",
    "class": "    class _kept: pass\n",
    "parameter_of_nested": "    def g(_kept): pass\n",
    "local_of_nested": "    def g():\n        _kept = 1\n",
    "in_lambda": "    g = lambda: _kept\n",
    "in_comprehension": "    g = [_kept for _kept in ()]\n",
    "captured": "    match x:\n        case {'a': 1, **_kept}: pass\n",
    "other_spelling": "    _\N{FULLWIDTH LATIN SMALL LETTER K}ept = 1\n",
    "after_a_return": "    if 0:\n        _kept = 1\n",
}


@pytest.mark.parametrize("filler", ["", FILLER], ids=["short", "long"])
@pytest.mark.parametrize("taken", TAKEN)
def test_a_name_that_is_taken_is_drift(taken: str, filler: str) -> None:
    source = f"def f0(x):\n{TAKEN[taken]}{filler}    return f(x)\n"
    with pytest.raises(
        Drift, match="brings in the name _kept, which the function has already; choose another name"
    ):
        result(source, walrus)


@pytest.mark.parametrize("filler", ["", FILLER], ids=["short", "long"])
@pytest.mark.parametrize(
    "harmless",
    ["    x._kept = 1\n", "    g(_kept=1)\n", "    '_kept'\n", "    # _kept\n", "    _kept2 = 1\n"],
)
def test_what_is_no_variable_does_not_count(harmless: str, filler: str) -> None:
    assert result(f"def f0(x):\n{harmless}{filler}    return f(x)\n", walrus)


@pytest.mark.parametrize("signature", ["_kept, /", "*, _kept", "*_kept", "**_kept", "_kept=1"])
def test_a_parameter_of_that_name_is_drift(signature: str) -> None:
    with pytest.raises(Drift, match="the name _kept"):
        result(f"def f0({signature}):\n    return f(1)\n", walrus)


def test_a_variable_of_an_enclosing_function_is_drift() -> None:
    source = "def outer(_kept):\n    def f0(x):\n        return f(x), _kept\n"
    with pytest.raises(Drift):
        result(source, walrus, "outer.<locals>.f0")


def test_sites_of_one_rule_share_their_name() -> None:
    assert result("def f0(x, y):\n    return f(x) + f(y)\n", walrus)


@pytest.mark.parametrize("filler", ["", FILLER], ids=["short", "long"])
def test_a_name_found_in_the_source_may_be_bound_anew(filler: str) -> None:
    assert result(f"def f0(x):\n{filler}    return f(x)\n", rebind)


def test_a_rule_that_asks_for_a_name_knows_of_it() -> None:
    (found,) = functions_in_file("def f0(x):\n    return f(x)\n", "x.py")
    rule = Rule(Pattern("f(x)"), lambda node: [replace(node, "g(x := h(x))")])  # type: ignore[arg-type]
    edits = [edit for site in rule.plan(found) for edit in site]
    assert edited_code(found, edits, [rule], "x.py")
    # Names are what they were after they were called otherwise.
    assert ast.unparse(found.node) == "def f0(x):\n    return f(x)"


def test_a_builtin_that_the_function_shadows_is_drift() -> None:
    assert result("def f0(x):\n    return f(x)\n", call_getattr)
    with pytest.raises(Drift, match="brings in the name getattr"):
        result("def f0(x, getattr):\n    return f(x)\n", call_getattr)


@pytest.mark.parametrize("own", ["import torch", "torch = x", "for torch in x: pass"])
def test_a_variable_in_the_place_of_a_module_is_drift(own: str) -> None:
    source = f"def f0(x):\n    y = f(x)\n    {own}\n    return y\n"
    assert result(source, walrus)
    with pytest.raises(Drift, match="takes torch from the module"):
        result(source, walrus, needs=("torch",))


NORM = (
    "import torch\n\n\nclass Norm:\n    def forward(self, x):\n        y = x * torch.rsqrt(x)\n"
    "        return self.weight * y\n"
)
LAYER = "class Layer:\n    def forward(self, x):\n        return self.lm_head(self.wi(x))\n"


def rules_of_the_catalogue(source: str) -> list[Rule]:
    from patchkit.catalogue import entries as catalogue
    from patchkit.patch import Rewrite

    (found,) = functions_in_file(source, "x.py")
    rules = {
        change.rule: None
        for name in ("transformers-norm-output-dtype", "transformers-lm-head-dtype")
        for change in catalogue.load().entries[name].patch.changes
        if isinstance(change, Rewrite)
    }
    return [rule for rule in rules if rule.may_concern(found.code) and rule.plan(found)]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("_patchkit_dtype_given", NORM.replace("y = x *", "_patchkit_dtype_given = y = x *")),
        ("_patchkit_normed", NORM.replace("weight * y", "weight * _patchkit_normed(y)")),
        (
            "_patchkit_input_of_layer",
            LAYER.replace("self, x", "self, x, _patchkit_input_of_layer=None"),
        ),
    ],
)
def test_names_of_the_catalogue(name: str, source: str) -> None:
    for text, fits in ((source.replace(name, "other"), True), (source, False)):
        (found,) = functions_in_file(text, "x.py")
        for rule in rules_of_the_catalogue(text):
            edits = [edit for site in rule.plan(found) for edit in site]
            if fits:
                assert edited_code(found, edits, [rule], "x.py")
            elif any(name in edit.text for edit in edits):
                with pytest.raises(Drift, match=f"the name {name}"):
                    edited_code(found, edits, [rule], "x.py")
        assert rules_of_the_catalogue(text)


def test_two_rules_that_were_made_for_it_share_names() -> None:
    source = LAYER.replace("self.lm_head(self.wi(x))", "self.lm_head(x) + self.wi(x)")
    (found,) = functions_in_file(source, "x.py")
    rules = rules_of_the_catalogue(source)
    assert len(rules) == 2
    edits = [edit for rule in rules for site in rule.plan(found) for edit in site]
    assert edited_code(found, edits, rules, "x.py")
