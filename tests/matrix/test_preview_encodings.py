"""A preview reads files as Python does, whatever their encoding and line ends."""

from __future__ import annotations

import pytest

from patchkit.matrix.preview import preview
from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace

CONTENTS = {
    "plain": "def f(x):\n    return 'é', bug(x)\n".encode(),
    "byte_order_mark": "\ufeffdef f(x):\n    return 'é', bug(x)\n".encode(),
    "latin_1": "# coding: latin-1\ndef f(x):\n    return 'é', bug(x)\n".encode("latin-1"),
    "windows": "def f(x):\r\n    return 'é', bug(x)\r\n".encode(),
    "old_mac": "def f(x):\r    return 'é', bug(x)\r".encode(),
    "form_feed": "X = 1\n\fdef f(x):\n\f    return 'é', bug(x)\n".encode(),
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_preview(library, kind: str) -> None:
    library.write("shape", "")
    (library.package / "shape.py").write_bytes(CONTENTS[kind])
    rule = Rule(Pattern("bug(X)"), lambda node: [replace(node.func, "fix")])  # type: ignore[attr-defined]
    patch = Patch(
        id="madeup-bug",
        title="fixed",
        affects={"madeup": ""},
        changes=(Rewrite("madeup.shape:f", rule),),
    )
    found = preview(patch)
    assert not found.drift
    assert "+    return 'é', fix(x)" in str(found).replace("\f", "")
