"""The rewrites of Unsloth on releases around the bounds, and what the rewritten calls do.

Importing Unsloth needs a GPU: nothing of it is imported here, and no model is loaded.
"""

from __future__ import annotations

import ast
import types

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.rewrite import edited_code, find, functions_in_file
from patchkit.rewrite.edit import apply_edits

pytestmark = pytest.mark.releases

AFFECTED = ["2025.5.4", "2025.6.1", "2025.12.10", "2026.1.4"]
RELEASES = [*AFFECTED, "2026.2.1"]
PATCH = catalogue.load().entries["unsloth-post-patch-dtype"].patch
LOAD, *HAND_ON = PATCH.changes


@pytest.mark.parametrize("release", RELEASES)
def test_release(check_release, release: str) -> None:
    check_release("unsloth", release)


def function(modules, release: str, change):
    module, _, qualname = change.target.partition(":")
    text = modules("unsloth", release)[module].decode()
    return next(
        function for function in functions_in_file(text, module) if function.qualname == qualname
    )


def edits_of(source, change):
    return [edit for site in change.rule.plan(source) for edit in site]


class Stop(Exception):
    """Enough was seen: what follows in the function needs the model."""


@pytest.mark.parametrize("change", HAND_ON, ids=lambda change: change.target)
@pytest.mark.parametrize("release", AFFECTED)
def test_post_patch_hands_on_what_is_on_the_model(modules, release: str, change) -> None:
    """The function itself, compiled from the release, with nothing but its callee made up."""
    source = function(modules, release, change)

    def received(code, model) -> dict[str, object]:
        def patch_model_and_tokenizer(given, tokenizer, downcast_rope=True, **more):
            assert given is model
            raise Stop({"downcast_rope": downcast_rope, **more})

        stub = {"patch_model_and_tokenizer": patch_model_and_tokenizer}
        with pytest.raises(Stop) as stop:
            types.FunctionType(code, {**stub, "__builtins__": __builtins__})(model, "tokenizer")
        return stop.value.args[0]

    model = types.SimpleNamespace(_patchkit_requested_dtype="torch.float16")
    before = received(source.code, model)
    assert set(before) == {"downcast_rope"}
    code = edited_code(source, edits_of(source, change), [change.rule], source.name)
    assert received(code, model) == {**before, "correct_dtype": "torch.float16"}
    assert not vars(model)
    # A model that came another way.
    assert received(code, model) == {**before, "correct_dtype": None}


@pytest.mark.parametrize("release", AFFECTED)
def test_from_pretrained_leaves_the_dtype_on_the_model(modules, release: str) -> None:
    """The one statement that is rewritten, since the function as a whole needs a GPU."""
    source = function(modules, release, LOAD)
    lines = apply_edits(source.lines, edits_of(source, LOAD))
    tree = ast.parse("".join(lines))
    (statement,) = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and "_patchkit_requested_dtype" in ast.unparse(node)
    )
    assert not list(find(tree, LOAD.rule.site))
    called = []

    def post_patch(model, tokenizer):
        called.append((model._patchkit_requested_dtype, tokenizer))
        return model, tokenizer

    scope = {
        "model": types.SimpleNamespace(),
        "tokenizer": "tokenizer",
        "dtype": "torch.float16",
        "model_patcher": types.SimpleNamespace(post_patch=post_patch),
    }
    exec(ast.unparse(statement), scope)
    assert called == [("torch.float16", "tokenizer")]
