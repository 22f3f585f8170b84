"""Scripts that were run on versions of their time: what is said of them must not contradict that."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from patchkit.modernize.wanted import ScriptVerdict
from patchkit.modernize.wanted.measured import best
from patchkit.modernize.wanted.source import KINDS

CHECKOUT = Path(__file__).parents[2]
FOLDER = CHECKOUT / "tests" / "legacy" / "scripts"
SCRIPTS = sorted(
    str(path.relative_to(FOLDER)) for path in FOLDER.glob("*/*") if path.suffix in KINDS
)
_ROW = re.compile(r"\| (\S+/\S+\.(?:py|sh|ipynb)) \| [^|]* \| ([^|]*) \| ([^|]*) \|")
GONE = {
    line.split()[0]
    for line in (FOLDER / "gone_for_good.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
}
RUN = {
    name: (newest.strip(), with_layer.strip())
    for name, newest, with_layer in _ROW.findall(
        (CHECKOUT / "docs" / "legacy.md").read_text("utf-8")
    )
}
"""What came of each on the newest set, without the layer and with it."""


NOT_SEEN = {
    "0.9/dpo_own_loss.py": ScriptVerdict.NOT,  # a method that no trainer calls any more
}
"""What is said of scripts with something old that is no name and no keyword."""


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_range_has_the_release_that_it_was_run_on(script: str, look, pins) -> None:
    own = pins(Path(script).parent.name)
    found = look(FOLDER / script)
    assert found.ranges
    for known in found.ranges:
        assert own[known.library] in known.releases, (known.first_by, known.last_by, known.apart)
    assert [need.what for need in found.needs if need.possible and not need.holds(own)] == []


@pytest.mark.parametrize("script", SCRIPTS)
def test_verdict_on_the_newest(script: str, look) -> None:
    shell = script.replace(".py", ".sh")
    newest, with_layer = RUN.get(script) or RUN[shell]
    found = look(FOLDER / script)
    if script in NOT_SEEN:
        assert found.verdict is NOT_SEEN[script]
        assert newest != "trained"
    elif script in GONE:
        assert found.verdict is ScriptVerdict.NOT
        assert any(str(missed.fate) == "gone" for missed in found.lacking)
        assert "Error" in with_layer
    elif newest == "trained":
        assert found.verdict is ScriptVerdict.AS_IT_IS
    else:
        assert found.verdict is ScriptVerdict.WITH_THE_LAYER, found.lacking


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_measured_set_has_all_that_it_names(script: str, look) -> None:
    needs = [need for need in look(FOLDER / script).needs if need.possible]
    chosen = best(needs, {})
    assert chosen is not None
    assert all(need.holds(chosen.versions) for need in needs)


def test_scripts_run_as_they_are_on_their_own_set(look) -> None:
    verdicts = {
        script: look(FOLDER / script, Path(script).parent.name).verdict for script in SCRIPTS
    }
    unusual = [
        script for script, verdict in verdicts.items() if verdict is not ScriptVerdict.AS_IT_IS
    ]
    assert unusual == []
