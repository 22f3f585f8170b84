"""Version sets: read, and the same as tox's environments."""

from __future__ import annotations

import os
import py_compile
import re
import runpy
import sys
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from patchkit.matrix.records import MatrixError
from workbench.record.sets import VersionSet, default_folder, read_sets

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sets" / "no-deps").mkdir(parents=True)
    return tmp_path / "sets"


def test_a_set_is_its_pins_and_those_installed_alone(folder: Path) -> None:
    (folder / "0.26.txt").write_text(
        "# of its time\ntrl==0.26.2\n\ntorch == 2.13.0  # CPU\nPy_YAML==6.0\n"
    )
    (folder / "no-deps" / "0.26.txt").write_text("nemo-automodel==0.2.0\n")
    (folder / "0.9.txt").write_text("trl==0.9\n")
    (folder / "README.md").write_text("no set")
    assert read_sets(folder) == [
        VersionSet(
            "0.26",
            {"trl": "0.26.2", "torch": "2.13.0", "py-yaml": "6.0", "nemo-automodel": "0.2.0"},
        ),
        VersionSet("0.9", {"trl": "0.9"}),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "trl",
        "trl>=1",
        "trl==1.*",
        "trl==1,<2",
        "trl===1",
        "trl==1; python_version > '3'",
        "trl @ https://example.org/trl.whl",
        "-r other.txt",
        "--index-url https://example.org",
        "trl==one",
        "==1",
    ],
)
def test_a_line_that_is_no_pin(folder: Path, line: str) -> None:
    (folder / "x.txt").write_text(f"torch==2.13.0\n{line}\n")
    with pytest.raises(
        MatrixError, match=r"^sets/x\.txt, line 2: .* is not an exact pin"
    ) as caught:
        read_sets(folder)
    assert repr(line) in str(caught.value)


def test_a_library_pinned_twice(folder: Path) -> None:
    (folder / "x.txt").write_text("trl==1\n")
    (folder / "no-deps" / "x.txt").write_text("# none\nTRL==2\n")
    with pytest.raises(MatrixError, match=r"^no-deps/x\.txt, line 2: trl is pinned twice"):
        read_sets(folder)


def test_what_is_not_there(folder: Path, monkeypatch) -> None:
    with pytest.raises(MatrixError, match="no folder of version sets at "):
        read_sets(folder / "nowhere")
    with pytest.raises(MatrixError, match="no version sets in "):
        read_sets(folder)
    (folder / "x.txt").write_text("trl==1\n")
    (folder / "no-deps" / "y.txt").write_text("trl==1\n")
    with pytest.raises(MatrixError, match=r"y\.txt adds to a version set that does not exist"):
        read_sets(folder)
    (folder / "no-deps" / "y.txt").unlink()
    (folder / "x.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MatrixError, match="cannot read the version set"):
        read_sets(folder)
    monkeypatch.setattr("workbench.record.sets.default_path", lambda: folder / "m.yaml")
    with pytest.raises(MatrixError, match="come only with a checkout"):
        default_folder()


TOX = (ROOT / "tox.ini").read_text(encoding="utf-8")


def environments_of_tox() -> set[str]:
    """What `[testenv:{…, matrix}-{…}]` expands to, without the prefix."""
    (names,) = re.findall(
        r"^\[testenv:\{[^}]*\bmatrix\b[^}]*\}-\{([^}]*)\}\{,-whole\}\]", TOX, re.MULTILINE
    )
    return {name.strip() for name in names.split(",")}


def test_tox_has_an_environment_for_each_set_and_measures_them_all() -> None:
    names = {version_set.name for version_set in read_sets(ROOT / "version_sets")}
    assert environments_of_tox() == names
    (full,) = re.findall(r"^ +full = (.*)$", TOX, re.MULTILINE)
    groups = re.findall(r"(?:\{[^{}]*\bmatrix\b[^{}]*\}|\bmatrix)-\{([^{}]*)\}", full)
    assert {name.strip() for group in groups for name in group.split(",")} == names
    (by_default,) = re.findall(r"^env_list = (.*)$", TOX, re.MULTILINE)
    assert "matrix" not in by_default


def test_each_set_gets_the_torch_that_it_pins() -> None:
    """constraints.txt keeps an unpinned torch at the release that is measured."""
    (factors,) = re.findall(r"^ +([\w.,]+): UV_CONSTRAINT = .*\{version_set\}", TOX, re.MULTILINE)
    (usual,) = re.findall(r"^torch==(.*)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    with_their_own = {
        version_set.name
        for version_set in read_sets(ROOT / "version_sets")
        if version_set.versions["torch"] != usual
    }
    assert {name.partition("-")[0] for name in with_their_own} == set(factors.split(","))


@pytest.fixture
def plugin(monkeypatch) -> dict[str, Any]:
    """toxfile.py, where tox need not be installed."""
    packages = ("tox", "tox.config", "tox.session", "tox.tox_env")
    for module in (*packages, "tox.config.sets", "tox.session.state", "tox.tox_env.api"):
        monkeypatch.setitem(sys.modules, module, mock.MagicMock())
    monkeypatch.setitem(sys.modules, "tox.plugin", mock.Mock(impl=lambda function: function))
    return runpy.run_path(str(ROOT / "toxfile.py"))


def test_each_environment_of_tox_has_the_files_of_its_name(plugin) -> None:
    """tox.ini names them by a key that toxfile.py reads off the environment's name."""
    file = r"(version_sets|no-deps|\.matrix)\{/\}([^{}\s]+|\{\w+\})\.(?:txt|json)"
    assert re.findall(file, TOX) == [
        ("version_sets", "{version_set}"),
        ("version_sets", "{version_set}"),
        ("no-deps", "{version_set}"),
        (".matrix", "{version_set}"),
    ]
    for name in environments_of_tox():
        assert (ROOT / "version_sets" / "no-deps" / f"{name}.txt").is_file()

    for environment, expected in (
        ("trl-1.16", "1.16"),
        ("matrix-transformers4", "transformers4"),
        ("matrix-torch2.6-old", "torch2.6-old"),
    ):
        settings = mock.Mock(env_name=environment)
        plugin["tox_add_env_config"](settings, None)
        settings.add_constant.assert_called_once_with("version_set", mock.ANY, expected)


def test_environments_of_tox_share_the_bytecode_of_the_same_files(plugin, tmp_path: Path) -> None:
    """A file of another release may have the size and the time of one that was compiled."""
    sources: dict[str, list[Path]] = {}
    for environment, text in (("one", "a = 1\n"), ("two", "a = 2\n")):
        package = tmp_path / environment / "lib" / "package"
        package.mkdir(parents=True)
        sources[environment] = [package / f"{name}.py" for name in ("same", "other", "own")]
        for source in sources[environment]:
            source.write_text(text)
            os.utime(source, (0, 0))
    for module, (there, here) in enumerate(zip(sources["one"], sources["two"], strict=True)):
        if module != 1:
            here.unlink()
            here.hardlink_to(there)
        py_compile.compile(str(there))
    own = Path(py_compile.compile(str(sources["two"][2])) or "")
    before = own.stat().st_ino
    there = Path(cache_from_source(str(sources["one"][0])))
    there.with_name(f"{there.name}.123").touch()  # is being written

    here = tmp_path / "two"
    environment = mock.Mock(env_dir=here, env_site_package_dir=lambda: here / "lib")
    plugin["tox_before_run_commands"](environment)

    linked = own.with_name(there.name)
    assert sorted(own.parent.iterdir()) == sorted([own, linked])
    assert (linked.stat().st_ino, own.stat().st_ino) == (there.stat().st_ino, before)


def test_the_shipped_sets_pin_what_is_measured() -> None:
    for version_set in read_sets(ROOT / "version_sets"):
        assert {"trl", "transformers", "peft", "accelerate", "bitsandbytes", "torch"} <= set(
            version_set.versions
        ), version_set.name
