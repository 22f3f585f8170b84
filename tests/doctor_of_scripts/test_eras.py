"""Scripts that were run on versions of their time: what is said of them must not contradict that."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from patchkit.modernize.wanted import Verdict
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
    "0.7/peft_seq2seq_loop.py": Verdict.AS_IT_IS,  # AdaLoraConfig without total_step
    "0.9/dpo_own_loss.py": Verdict.NOT,  # a method that no trainer calls any more
}
"""What is said of scripts with something old that is no name and no keyword."""


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_range_has_the_release_that_it_was_run_on(script: str, look, pins) -> None:
    own = pins(Path(script).parent.name)
    found = look(FOLDER / script)
    assert found.ranges
    for it in found.ranges:
        assert own[it.library] in it.releases, (it.first_by, it.last_by, it.apart)
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
        assert found.verdict is Verdict.NOT
        assert any(str(it.fate) == "gone" for it in found.lacking)
        assert "Error" in with_layer
    elif newest == "trained":
        assert found.verdict is Verdict.AS_IT_IS
    else:
        assert found.verdict is Verdict.WITH_THE_LAYER, found.lacking


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_measured_set_has_all_that_it_names(script: str, look) -> None:
    needs = [it for it in look(FOLDER / script).needs if it.possible]
    chosen = best(needs, {})
    assert chosen is not None
    assert all(need.holds(chosen.versions) for need in needs)


def test_scripts_run_as_they_are_on_their_own_set(look) -> None:
    verdicts = {it: look(FOLDER / it, Path(it).parent.name).verdict for it in SCRIPTS}
    unusual = [it for it, verdict in verdicts.items() if verdict is not Verdict.AS_IT_IS]
    assert unusual == []
