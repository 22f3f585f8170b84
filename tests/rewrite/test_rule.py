"""What a rule cannot edit is drift, and what it edits is what the edited file compiles to."""

from __future__ import annotations

import ast
import random
import sys
import textwrap

import pytest

from patchkit.rewrite import Drift, Edit, Pattern, Rule, functions_in_file, replace, require
from patchkit.rewrite.edit import drop, insert_after, span
from patchkit.rewrite.edited import edited_code

BUG = Pattern("bug(X)")


def source_of(text: str, qualname: str = "f"):
    (found,) = functions_in_file(text, "x.py", lambda name: name == qualname)
    return found


def fixed(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    return [replace(node.func, "fix")]


FIX = Rule(BUG, fixed, names=("bug",))


def code_of(text: str, rule: Rule = FIX, qualname: str = "f"):
    found = source_of(text, qualname)
    edits = [edit for site in rule.plan(found) for edit in site]
    assert edits
    return edited_code(found, edits, [rule], "x.py")


@pytest.mark.parametrize("signature", ["self, /, x, y", "self, x, /, y", "self, x, /"])
def test_positional_only_parameters_are_drift_for_a_rule_of_functions(signature: str) -> None:
    def second_parameter(node: ast.AST) -> list[Edit]:
        assert isinstance(node, ast.FunctionDef)
        start, _ = span(node.body[0])
        return [Edit(start, start, f"{node.args.args[1].arg}; ")]

    rule = Rule(lambda node: isinstance(node, ast.FunctionDef), second_parameter)
    with pytest.raises(Drift, match="f has positional-only parameters at line 1"):
        rule.plan(source_of(f"def f({signature}):\n    return y\n"))
    assert rule.plan(source_of("def f(self, x):\n    return y\n"))


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (IndexError("list index out of range"), "IndexError: list index out of range"),
        (AssertionError(), "AssertionError"),
        (KeyError("x"), "KeyError: 'x'"),
        (ValueError("too many values"), "ValueError: too many values"),
        (AttributeError("no attribute"), "AttributeError: no attribute"),
    ],
)
def test_an_edit_that_meets_another_shape_is_drift(error: Exception, told: str) -> None:
    def fail(node: ast.AST) -> list[Edit]:
        raise error

    source = source_of("def f(x):\n    y = x\n    return bug(x)\n")
    with pytest.raises(Drift, match=f"in f at line 3 cannot be edited: {told}"):
        Rule(BUG, fail).plan(source)
    with pytest.raises(Drift, match=f"looking for the buggy code in f raised {told}"):
        Rule(fail, fixed).plan(source)  # type: ignore[arg-type]


def test_an_error_in_the_patch_stays_one() -> None:
    def unfinished(node: ast.AST) -> list[Edit]:
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        Rule(BUG, unfinished).plan(source_of("def f(x):\n    return bug(x)\n"))


@pytest.mark.parametrize(
    "source",
    [
        "@bug(1)\ndef f(x):\n    return x\n",
        "def f(x=bug(1)):\n    return x\n",
        "def f(x: bug(1)): x\n",
    ],
)
def test_a_site_outside_of_the_body_is_drift(source: str) -> None:
    """What stands there runs once, before the code is swapped."""
    with pytest.raises(Drift, match="lies outside of its body"):
        code_of(source)


def test_a_walrus_where_none_may_stand_is_drift() -> None:
    def walrus(node: ast.AST) -> list[Edit]:
        assert isinstance(node, ast.Call)
        return [replace(node, "(_kept := 1)")]

    assert code_of("def f(x):\n    return [bug(y) for y in x]\n", Rule(BUG, walrus))
    with pytest.raises(Drift, match="does not parse"):
        code_of("def f(x):\n    return [y for y in bug(x)]\n", Rule(BUG, walrus))


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python knows where it stands")
def test_code_in_an_f_string_is_drift_where_its_place_is_unknown() -> None:
    for source in (
        'def f(x):\n    return f"""\n{bug(x)} é {bug(x)}"""\n',
        "def f(x):\n    return f'{bug(x)}'\n",
    ):
        with pytest.raises(Drift, match="inside an f-string"):
            code_of(source)


def test_code_beside_an_f_string_is_edited() -> None:
    assert code_of("def f(x):\n    return f'é{x}', bug(x), f'{x}'\n").co_names == ("fix",)


def test_words_do_not_grow_together() -> None:
    for source in ("return(bug)(x)", "return bug(x)if x else 1", "return 1 if x else(bug)(x)"):
        found = source_of(f"def f(x):\n    {source}\n")
        rule = Rule(
            lambda node: isinstance(node, ast.Call) and ast.unparse(node) == "bug(x)",
            lambda node: [replace(node, "fix")],  # type: ignore[arg-type]
        )
        edits = [edit for site in rule.plan(found) for edit in site]
        assert edited_code(found, edits, [rule], "x.py").co_names == ("fix",)


# Each holds one site, below enough other code that the statement is parsed by itself.
PLACES = {
    "plain": "    x = bug(x)\n",
    "if": "    if x:\n        x = bug(x)\n    else:\n        pass\n",
    "one_line_if": "    if x: bug(x); x = 2\n",
    "semicolons": "    y = 1; x = bug(x); z = 2\n",
    "shared_first_line": "    y = 1; x = (\n    bug(x)); z = (\n    1)\n",
    "continued": "    y = 1 + \\\n  bug(x)\n",
    "brackets": "    y = (\nbug(x),\n# c\n)\n",
    "string": "    y = '''\nbug(x)\n''' + bug(x)\n",
    "decorated": "    @bug(x)\n    def g(): pass\n",
    "nested": "    def g(y=1):\n        return bug(x)\n",
    "class": "    class C:\n        y = bug(x)\n",
    "try": "    try:\n        pass\n    except E:\n        bug(x)\n    finally:\n        pass\n",
    "with": "    with bug(x) as y, z:\n        pass\n",
    "comment": "    bug(x)  # é\n    # é\n",
    "form_feed": "\f    x = bug(x)\n",
    "not_ascii": "    é = 'é…𝄞', bug(x)\n",
    "yield": "    y = yield bug(x)\n",
    "return": "    return bug(x)\n",
    "nonlocal": "    def g():\n        nonlocal x\n        x = bug(x)\n",
    "tabs": "    if x:\n    \tbug(x)\n",
}
LINES = "".join(f"    a{number} = {number}\n" for number in range(12))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("outer", ["", "class C:\n", "class C:\n  class D:\n"])
def test_what_is_parsed_by_itself_is_as_in_the_whole(place: str, outer: str) -> None:
    indent = " " * (2 * outer.count("\n"))
    body = textwrap.indent(f"def f(x):\n{LINES}{PLACES[place]}{LINES}", indent)
    # The tokenizer counts columns from the form feed on.
    text = f"import fix\n{outer}{body}".replace(f"{indent}\f", f"\f{indent}")
    qualname = ".".join([*(line.split()[1][:-1] for line in outer.splitlines()), "f"])
    found = source_of(text, qualname)
    (edits,) = FIX.plan(found)
    edited = edited_code(found, edits, [FIX], "x.py")
    before, _, after = text.rpartition("bug")
    (whole,) = functions_in_file(f"{before}fix{after}", "x.py", lambda name: name == qualname)
    assert edited == whole.code


def test_a_site_left_in_another_statement_is_drift() -> None:
    source = source_of(f"def f(x):\n{LINES}    bug(x)\n{LINES}    bug(x)\n")
    first, _ = FIX.plan(source)
    with pytest.raises(
        Drift, match=r"leaves buggy code behind, at line 27: .* still has .* begin further out"
    ):
        edited_code(source, first, [FIX], "x.py")


def test_a_site_that_comes_to_light_with_the_edit_around_it_is_drift() -> None:
    """What stands inside a site is not looked at before."""
    rule = Rule(
        lambda node: isinstance(node, (ast.If, ast.Call)),
        lambda node: require(node.test, "y"),  # type: ignore[attr-defined]
    )
    source = source_of(f"def f(x):\n    if x:\n{LINES.replace('    ', '        ')}        bug(x)\n")
    (edits,) = rule.plan(source)
    with pytest.raises(Drift, match="leaves buggy code"):
        edited_code(source, edits, [rule], "x.py")


def test_a_function_that_becomes_a_site_is_drift() -> None:
    def names_both(node: ast.AST) -> bool:
        return BUG(node) or (isinstance(node, ast.FunctionDef) and "fix(" in ast.unparse(node))

    source = source_of(f"def f(x):\n{LINES}    bug(x)\n{LINES}")
    rule = Rule(names_both, fixed)
    (edits,) = rule.plan(source)
    with pytest.raises(Drift, match="leaves buggy code"):
        edited_code(source, edits, [rule], "x.py")


@pytest.mark.parametrize(
    "text",
    [
        "def f(\n\n\n\n\n\n  x): y = bug(x); z = 1\n",
        "def f(\n\n\n\n\n\n  x): \\\n    y = bug(x); z = 1\n",
    ],
)
def test_a_body_on_the_line_of_its_header(text: str) -> None:
    assert code_of(text).co_names == ("fix",)


def test_a_dropped_statement_stays_on_its_lines() -> None:
    rule = Rule(Pattern("bug(X)"), lambda node: [insert_after(node, ".fixed")])  # type: ignore[arg-type]
    text = f"def f(x):\n{LINES}    if x:\n        (\n        1)\n    bug(\n  x)\n"
    found = source_of(text)
    edits = [drop(found.node.body[12]), Edit((17, 4), (17, 7), "fix")]
    assert edited_code(found, edits, [FIX], "x.py").co_names == ("fix",)
    assert rule.plan(found)


def test_random_statements_are_parsed_as_in_the_whole() -> None:
    """Places in random order, so that each neighbour comes up."""
    chance = random.Random(0)
    names = [name for name in PLACES if name not in ("return", "tabs")]
    for _ in range(60):
        chosen = chance.choices(names, k=8)
        text = "def f(x):\n" + "".join(
            PLACES[name].replace("bug", f"bug{number}") for number, name in enumerate(chosen)
        )
        number = chance.randrange(8)
        rule = Rule(
            Pattern(f"bug{number}(X)"),
            lambda node: [replace(node.func, "fix")],  # type: ignore[attr-defined]
        )
        found = source_of(text)
        edits = [edit for site in rule.plan(found) for edit in site]
        edited = edited_code(found, edits, [rule], "x.py")
        expected = ast.parse(text)
        for node in ast.walk(expected):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == f"bug{number}":
                assert isinstance(node.func, ast.Name)
                node.func.id = "fix"
        module = compile(expected, "x.py", "exec", dont_inherit=True)
        (whole,) = (const for const in module.co_consts if hasattr(const, "co_code"))
        assert edited.co_code == whole.co_code
        assert edited.co_consts[:1] == whole.co_consts[:1]
