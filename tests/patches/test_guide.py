"""docs/writing-a-patch.md, followed to the letter on the versions that it is about."""

from __future__ import annotations

import re
import shlex
from importlib.metadata import version
from pathlib import Path

import pytest

from .drafts import run, run_test

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "writing-a-patch.md"
TEXT = GUIDE.read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = re.findall(r"^\$ (.*)$", TEXT, re.MULTILINE)
ABOUT = "5.23.0"


@pytest.mark.skipif(
    version("transformers") != ABOUT, reason=f"the guide shows Transformers {ABOUT}"
)
def test_the_guide_leads_to_a_verified_patch(forks, tmp_path: Path) -> None:
    listing, new, diff, verify, test = map(shlex.split, COMMANDS[:5])
    assert run(tmp_path, *listing).returncode == 64
    begun = run(tmp_path, *new)
    assert begun.returncode == 0, begun.stderr
    assert begun.stdout.strip() in TEXT

    file = tmp_path / "patches" / "my_label_smoothing.py"
    written, filled_in, reproduce = PYTHON[:3]
    text = file.read_text()
    assert written.strip() in text
    before = "".join(written.partition("    raise ")[1:])
    text = text.replace(before, filled_in)
    symptom, _, function = reproduce.partition("\ndef reproduce")
    text = re.sub(r"    symptom=.*\n\)\n", lambda _: symptom.rstrip() + "\n", text)
    text = text.partition("\ndef reproduce")[0] + "\ndef reproduce" + function
    text = text.replace('names=("sum",)', 'names=("sum",), needs=("torch",)')
    file.write_text(text)

    changed = [line for line in run(tmp_path, *diff).stdout.splitlines() if line[:1] in "+-"]
    assert len(changed) == 4
    assert all(line in TEXT for line in changed)
    verified = run(tmp_path, *verify)
    assert verified.returncode == 0, verified.stdout
    assert "without it: AssertionError: the loss of finite logits is inf" in verified.stdout
    *command, file = test
    assert command == ["pytest", "-q"]
    status, said, _ = run_test(forks, tmp_path, file)
    assert status == 0, said
