"""Code is swapped in place, several owners may share a function, and undo is the identity."""

from __future__ import annotations

import ast
import gc
import inspect
import linecache
import pickle
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchkit.rewrite import (
    CodeSwaps,
    Collision,
    Drift,
    Edits,
    Pattern,
    Rule,
    bind,
    functions_in_file,
    replace,
)
from patchkit.rewrite.edit import apply_edits
from patchkit.rewrite.edited import edited_code

ONE = Rule(Pattern("one()"), lambda node: [replace(node, "1")], names=("one",))
TWO = Rule(Pattern("two()"), lambda node: [replace(node, "2")], names=("two",))
ALSO_ONE = Rule(Pattern("one()"), lambda node: [replace(node, "11")])


class Claim:
    """Somebody who wants an edit until it is given up."""

    def __init__(self, swaps: CodeSwaps) -> None:
        self.is_valid, self.is_over, self.swaps = True, False, swaps

    def give_up(self) -> None:
        self.is_valid, self.is_over = False, True
        self.swaps.settle(complete=False)


def install(swaps: CodeSwaps, owner: str, function, rule: Rule) -> Claim:
    place, claim = swaps.place(function), Claim(swaps)
    edits = tuple(edit for site in swaps.plan(place, rule, "") for edit in site)
    swaps.install(function, Edits(owner, rule, edits), claim, place)
    return claim


@pytest.fixture
def module(library):
    library.write(
        "work",
        """\
        class Base:
            def f(self):
                return []

        class C(Base):
            def f(self):
                return super().f() + [one(), two()]

            def fails(self):
                one()
                raise RuntimeError

        class Earlier(C):
            pass

        def other():
            return one()
        """,
    )
    return library.load("work")


def test_every_reference_sees_the_fixed_code(module) -> None:
    bound, function, pickled = module.Earlier().f, module.C.f, pickle.dumps(module.C)
    swaps = CodeSwaps()
    install(swaps, "a", function, ONE)
    module.two = lambda: 0
    for fixed in (bound, function.__get__(module.C()), module.C().f, pickle.loads(pickled)().f):
        assert fixed() == [1, 0]
    assert module.C.f is function


def test_owners_come_and_go_in_any_order(module) -> None:
    function, swaps = module.C.f, CodeSwaps()
    original = function.__code__
    first = install(swaps, "a", function, ONE)
    second = install(swaps, "b", function, TWO)
    assert module.C().f() == [1, 2]
    first.give_up()
    assert function.__code__.co_names.count("one") == 1
    assert "two" not in function.__code__.co_names
    second.give_up()
    assert function.__code__ is original
    assert swaps.of(function) is None


def test_two_owners_of_one_place_collide(module) -> None:
    function, swaps = module.C.f, CodeSwaps()
    install(swaps, "a", function, ONE)
    first = function.__code__
    with pytest.raises(Collision, match=r"a and b both edit the same place of C\.f"):
        install(swaps, "b", function, ALSO_ONE)
    assert function.__code__ is first


def test_code_replaced_by_someone_else_is_left_alone(module) -> None:
    function, swaps = module.other, CodeSwaps()
    claim = install(swaps, "a", function, ONE)
    entry, ours = swaps.of(function), function.__code__
    function.__code__ = foreign = (lambda: 7).__code__
    assert entry.in_force() is None
    claim.give_up()
    assert function.__code__ is foreign
    function.__code__ = ours  # as somebody does who kept it
    swaps.settle(complete=False)
    assert function.__code__ is entry.original


def test_code_that_somebody_took_out_comes_back_on_demand(module) -> None:
    function, swaps = module.other, CodeSwaps()
    install(swaps, "a", function, ONE)
    ours, function.__code__ = function.__code__, swaps.original(function)
    swaps.settle(complete=False)
    assert function.__code__ is swaps.original(function)
    swaps.settle(complete=True)
    assert function.__code__ is ours


def test_a_function_that_is_gone_leaves_nothing(library) -> None:
    library.write("unloaded", "def f():\n    return one()\n")
    swaps, name = CodeSwaps(), "<patchkit>/madeup/unloaded.py"
    install(swaps, "a", library.load("unloaded").f, ONE)
    assert linecache.getlines(name)
    library.forget()
    gc.collect()
    swaps.settle(complete=False)
    assert list(swaps) == []
    assert name not in linecache.cache


def test_tracebacks_show_the_patched_line(module) -> None:
    swaps = CodeSwaps()
    claim = install(swaps, "a", module.C.fails, ONE)
    with pytest.raises(RuntimeError) as caught:
        module.C().fails()
    last = traceback.extract_tb(caught.tb)[-1]
    assert last.filename == "<patchkit>/madeup/work.py"
    assert (last.lineno, last.line) == (11, "raise RuntimeError")
    other = install(swaps, "a", module.other, ONE)
    linecache.checkcache()
    text = linecache.getlines(last.filename)
    assert text[9].strip() == "1"
    assert text[16].strip() == "return 1"
    other.give_up()
    assert linecache.getline(last.filename, 17).strip() == "return one()"
    claim.give_up()
    assert last.filename not in linecache.cache


def test_inspect_reads_the_text_after_the_cache_was_cleared(module) -> None:
    swaps = CodeSwaps()
    claim = install(swaps, "a", module.other, ONE)
    assert inspect.getsource(module.other) == "def other():\n    return 1\n"
    linecache.clearcache()
    assert inspect.getsource(module.other).startswith("def other():")
    swaps.settle(complete=False)
    linecache.checkcache()
    assert inspect.getsource(module.other) == "def other():\n    return 1\n"
    claim.give_up()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 +", "does not parse"),
        ("one() + 1", "leaves buggy code behind, at line 7"),
        ("(yield)", "makes it another kind of function"),
    ],
)
def test_a_bad_edit_installs_nothing(module, text: str, message: str) -> None:
    rule = Rule(Pattern("one()"), lambda node: [replace(node, text)])
    original = module.C.f.__code__
    swaps = CodeSwaps()
    with pytest.raises(Drift, match=message):
        install(swaps, "a", module.C.f, rule)
    assert module.C.f.__code__ is original
    assert swaps.of(module.C.f) is None


def test_an_edit_that_changes_the_closure_is_refused(library) -> None:
    library.write(
        "closure",
        "def outer(x):\n    def f():\n        return x + one()\n    return f\nf = outer(1)\n",
    )
    function = library.load("closure").f
    rule = Rule(Pattern("X + one()"), lambda node: [replace(node, "1")])
    with pytest.raises(Drift, match="changes what the function closes over"):
        install(CodeSwaps(), "a", function, rule)


STATEMENTS = st.recursive(
    st.sampled_from(["x = one()", "pass", "y = two(x)", "return x", "one()", "'''a\nb'''"]),
    lambda inner: st.builds(
        lambda head, body: head + "\n" + "\n".join("    " + line for line in body.split("\n")),
        st.sampled_from(["if x:", "while one():", "for i in two():", "with x:", "try:"]),
        st.lists(inner, min_size=1, max_size=3).map("\n".join),
    ).map(lambda text: text + "\nfinally:\n    pass" if text.startswith("try:") else text),
    max_leaves=8,
)


@given(st.lists(STATEMENTS, min_size=1, max_size=5))
def test_random_functions(body: list[str]) -> None:
    """Line count kept, sites gone, everything else as it was; without a site, nothing changes."""
    inner = "\n".join("    " + line for text in body for line in text.split("\n"))
    text = f"def f(x):\n{inner}\n"
    (source,) = functions_in_file(text, "f.py")
    sites = ONE.plan(source)
    edits = [edit for site in sites for edit in site]
    assert len(sites) == sum(ONE.site(node) for node in ast.walk(source.node))
    after = apply_edits(source.lines, edits)
    assert len(after) == len(source.lines)
    code = edited_code(source, edits, [ONE], "f.py")
    assert "one" not in code.co_names
    assert ast.unparse(ast.parse("".join(after))) == ast.unparse(ast.parse(text)).replace(
        "one()", "1"
    )
    if not sites:
        assert code == source.code


def test_a_decorated_function_is_fixed_below_its_decorators(library) -> None:
    library.write(
        "decorated",
        """\
        import functools

        def twice(f):
            @functools.wraps(f)
            def wrapper():
                return [f(), f()]
            return wrapper

        @twice
        def f():
            return one()
        """,
    )
    module = library.load("decorated")
    install(CodeSwaps(), "a", bind(module, "f").function(), ONE)
    assert module.f() == [1, 1]
