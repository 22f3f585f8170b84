"""Write the texts of the files of a new patch: the templates of this folder, filled in."""

from __future__ import annotations

from pathlib import Path

from ...rewrite import Pattern
from . import code
from .choosing import Site
from .drafting import Draft


def patch_file(draft: Draft) -> str:
    values = {
        "id": code.string(draft.id),
        "affects": f"{{{code.string(draft.library)}: {code.string('>=' + draft.since)}}}",
        "target": code.string(str(draft.target), 12),
        "where": draft.where,
    }
    if draft.site is None:
        return _filled("wrap.txt", parameters=code.strings(draft.parameters), **values)
    return _filled("rewrite.txt", **_rewrite_values(draft.site), **values)


def _rewrite_values(site: Site) -> dict[str, str]:
    holes = Pattern(site.pattern, literal=site.literal).holes(site.node)
    return {
        "pattern": code.string(site.pattern, 15),
        "literal": f", literal={code.strings(site.literal)}" if site.literal else "",
        "names": code.strings(site.names),
        "sites": "" if site.sites == 1 else f"\n            sites={site.sites},",
        "holes": "    code = SITE.holes(site)\n" if holes else "",
        "text": code.template(site.pattern, holes, "code"),
    }


def test_file(draft: Draft, *, in_checkout: bool) -> str:
    """Return the text of the test, which fails until the patch is done."""
    return _filled(
        "test.txt",
        quoted=code.string(draft.id),
        module=code.string(draft.target.module),
        qualname=code.string(draft.target.qualname),
        imports="" if in_checkout else "from pathlib import Path\n",
        folder="" if in_checkout else "FOLDER = Path(__file__).resolve().parents[1]\n",
        patches="" if in_checkout else ", patches=FOLDER",
    )


def _filled(template: str, **values: str) -> str:
    return Path(__file__).with_name(template).read_text(encoding="utf-8").format(**values)
