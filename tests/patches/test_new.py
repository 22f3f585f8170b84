"""`patchkit new` on a real library: from its installed source to a patch that holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from .drafts import run, run_test

TARGET = "trl.trainer.reward_trainer:RewardTrainer.__init__"
CAST = "param.data = param.data.to(torch.bfloat16)"
REPRODUCE = """
def reproduce() -> None:
    from patchkit.lab.reproduce import train_in_temporary_folder

    train_in_temporary_folder("reward", precision="fp16", quantization="4bit")
"""


def test_from_red_to_green(forks, tmp_path: Path) -> None:
    done = run(tmp_path, "patchkit", "new", "my-cast", "--target", TARGET, "--find", CAST)
    if "has no such code" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr
    file = tmp_path / "patches" / "my_cast.py"
    test = "patches/tests/test_my_cast.py"
    assert run_test(forks, tmp_path, test)[0] == 1

    text = file.read_text().partition("\ndef reproduce")[0] + REPRODUCE
    (raises,) = [line for line in text.splitlines(True) if "delete this line" in line]
    for before, after in (
        (raises, ""),
        (f'replace(site, "{CAST}")', 'replace(site, "pass")'),
        (
            "a regular expression for the error that reproduce() raises",
            "not implemented for 'BFloat16'",
        ),
    ):
        assert text.count(before) == 1, text
        text = text.replace(before, after)
    file.write_text(text)
    status, said, _ = run_test(forks, tmp_path, test)
    assert status == 0, said
