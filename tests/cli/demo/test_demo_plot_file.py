"""Where the demo's picture goes: its forms, and what is refused before anything is trained."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from patchkit.cli import main
from patchkit.cli.demo import command
from patchkit.errors import PatchError, UsageError

try:
    import matplotlib
except ImportError:
    matplotlib = None
else:
    from patchkit.cli.demo.picture import draw, draw_to

needs_matplotlib = pytest.mark.skipif(matplotlib is None, reason="matplotlib is not installed")
WHAT = {"trainer": "sft", "precision": "fp16", "checkpoint": "bf16", "quantization": "4bit"}
STEPS = 3
DTYPES = [{"kind": "LoRA A", "trained": True, "dtypes": {"float32": 14}}]
WITH = {"ok": True, "losses": [5.0, 4.5, 4.7], "dtypes": DTYPES}
WITHOUT = {"ok": False, "error_type": "RuntimeError", "error": "no", "losses": [5.0], "dtypes": []}


@needs_matplotlib
@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_another_process_and_day_give_the_same_bytes(form: str) -> None:
    code = (
        "import sys, json; from patchkit.cli.demo.picture import draw; "
        "without, fixed, what = json.load(sys.stdin); "
        f"sys.stdout.buffer.write(draw(without, fixed, what, {STEPS}, {form!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps([WITHOUT, WITH, WHAT]).encode(),
        env={**os.environ, "PYTHONHASHSEED": "7", "SOURCE_DATE_EPOCH": "1000000000"},
        capture_output=True,
        check=True,
    )
    with matplotlib.rc_context({"savefig.bbox": "tight", "savefig.facecolor": "red"}):
        assert draw(WITHOUT, WITH, WHAT, STEPS, form) == done.stdout


@needs_matplotlib
@pytest.mark.parametrize(
    ("name", "begin"),
    [("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a.SVG", b"<?xml")],
)
def test_forms(tmp_path: Path, name: str, begin: bytes) -> None:
    draw_to(tmp_path / name, WITHOUT, WITH, WHAT, STEPS)
    assert (tmp_path / name).read_bytes().startswith(begin)


REFUSED = [
    ("loss.jpg", "--plot loss.jpg: the ending must be one of .svg, .png, .pdf"),
    ("loss", "--plot loss: the ending must be one of .svg, .png, .pdf"),
    ("none/loss.svg", "--plot none/loss.svg: there is no folder none; make it first"),
]


@pytest.mark.parametrize(("name", "message"), REFUSED)
def test_a_bad_file_is_refused_before_anything_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=re.escape(message)):
        demo(name)
    result = CliRunner().invoke(main, ["demo", "--plot", name], prog_name="patchkit")
    assert result.exit_code not in (0, 1)
    assert (result.stdout, list(tmp_path.iterdir())) == ("", [])
    assert f"Error: {message}" in result.stderr


def test_without_matplotlib_nothing_is_trained(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PatchError, match=r"needs matplotlib .* pip install matplotlib"):
        demo(str(tmp_path / "loss.svg"))


@needs_matplotlib
def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "loss.svg").mkdir()
    with pytest.raises(PatchError, match=r"cannot write .*loss\.svg: Is a directory"):
        draw_to(tmp_path / "loss.svg", WITHOUT, WITH, WHAT, STEPS)


def demo(plot: str) -> None:
    options = {"steps": 1, "as_json": False, "plot": Path(plot)}
    command.demo.callback(**WHAT, **options)
