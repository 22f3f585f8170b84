"""The wheel, the sdist and an editable install, each in a clean environment."""

from __future__ import annotations

import json
import os
import re
import sys
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from patchkit.about import __version__

from ..installed import write
from .conftest import ROOT, build, install_dependencies, run

pytestmark = pytest.mark.packaging

MADE_UP = {
    "madeup.py": "def f():\n    return bug()\n",
    "madeup-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: madeup\nVersion: 1.0\n",
    "more_patches.py": """
from patchkit import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace

RULE = Rule(Pattern("bug()"), lambda node: [replace(node, "'fixed'")])
PATCH = Patch(
    id="madeup-bug", title="fixed", affects={"madeup": ">=1"},
    changes=(Rewrite("madeup:f", RULE),),
)
""",
    "more-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: more\nVersion: 1.0\n",
    "more-1.0.dist-info/entry_points.txt": "[patchkit.patches]\nbug = more_patches\n",
}
PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
import patchkit
report = patchkit.apply()
import madeup
print(json.dumps({
    "file": patchkit.__file__,
    "value": madeup.f(),
    "statuses": {r.id: str(r.status) for r in patchkit.report()},
    "tested": str(report["trl-adapter-bf16-cast"].tested),
}))
"""


# The package of the sdist must come before whatever is installed here.
SDIST_TESTS = """
import sys
sys.path.insert(0, sys.argv[1])
import patchkit, pytest
assert patchkit.__file__.startswith(sys.argv[1]), patchkit.__file__
sys.exit(pytest.main(sys.argv[2:]))
"""


def check_install(python: Path, folder: Path) -> dict[str, object]:
    write(folder / "site", MADE_UP)
    outcome: dict[str, object] = json.loads(
        run(python, "-c", PROGRAM, folder / "site", cwd=folder).splitlines()[-1]
    )
    statuses = outcome["statuses"]
    assert isinstance(statuses, dict)
    assert outcome["value"] == "fixed"
    assert statuses.pop("madeup-bug") == "applied"
    assert len(statuses) >= 4
    assert set(statuses.values()) == {"not-installed"}
    assert "unknown" not in str(outcome["tested"])
    return outcome


def environment(folder: Path) -> Path:
    run(sys.executable, "-m", "venv", "--without-pip", folder / "env", cwd=folder)
    return folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"


def install(python: Path, *what: object) -> None:
    """Install into the environment of another Python, with the pip of this one."""
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "-q", "--no-compile", *what, cwd=python.parent)


def test_wheel(wheel: Path, tmp_path: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {
        "patchkit/py.typed",
        "patchkit/compat_matrix.yaml",
        "patchkit/legacy/rows/attributes/trl.toml",
        "patchkit/legacy/rows/keywords/trl.toml",
        "patchkit/legacy/rows/names/trl.toml",
        "patchkit/legacy/versions/history.json",
        "patchkit/legacy/versions/version_sets.txt",
        "patchkit/patches/trl/adapter_bf16_cast.py",
        "patchkit/cli/run/autostart/sitecustomize.py",
    } <= set(names)
    assert {name.partition("/")[0] for name in names} == {
        "patchkit",
        "patchkit_trl.py",
        f"patchkit_trl-{__version__}.dist-info",
    }
    python = environment(tmp_path)
    install(python, wheel)
    outcome = check_install(python, tmp_path)
    assert str(tmp_path) in str(outcome["file"])
    assert "demo" in run(python, "-m", "patchkit", "--help", cwd=tmp_path)
    assert "demo" in run(python.with_name("patchkit"), "--help", cwd=tmp_path)


@pytest.mark.parametrize("address", ["", "https://code.example/someone/patchkit"])
def test_metadata_are_ready_for_an_index(
    tmp_path: Path, address: str, monkeypatch, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path
    if address:
        monkeypatch.setenv("PATCHKIT_REPOSITORY", address)
        build(folder, "--no-isolation")
    else:
        folder = request.getfixturevalue("distributions")
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        folder = f"patchkit_trl-{__version__}.dist-info"
        assert f"{folder}/licenses/LICENSE" in archive.namelist()
        text = archive.read(f"{folder}/METADATA").decode()
    with tarfile.open(sdist) as archive:
        (name,) = (name for name in archive.getnames() if name.endswith("/PKG-INFO"))
        info = archive.extractfile(name)
        assert info is not None
        assert info.read().decode() == text
    metadata = message_from_string(text)
    assert (metadata["Name"], metadata["Version"]) == ("patchkit-trl", __version__)
    assert metadata["Metadata-Version"] == "2.4"
    assert (metadata["License-Expression"], metadata["License-File"]) == ("Apache-2.0", "LICENSE")
    # PEP 639: a licence expression excludes licence classifiers, and an upload is refused.
    assert not [
        classifier
        for classifier in metadata.get_all("Classifier") or ()
        if classifier.startswith("License")
    ]
    # What is installed stays: nothing but the extra asks for torch, and any newer one will do.
    needed = list(map(Requirement, metadata.get_all("Requires-Dist") or ()))
    always = {requirement.name.lower() for requirement in needed if requirement.marker is None}
    assert always == {"click", "packaging", "pyyaml", "rich", "wrapt"}
    (torch,) = (requirement for requirement in needed if requirement.name == "torch")
    assert str(torch.specifier).startswith(">=")
    assert {specifier.operator for specifier in torch.specifier} == {">="}
    links = re.findall(r"\]\(([^)]+)\)", metadata.get_payload())
    relative = [link for link in links if not link.startswith(("https://", "#"))]
    urls = metadata.get_all("Project-URL") or []
    assert (bool(urls), bool(relative)) == (bool(address), not address)
    assert [url.partition(", ")[2].startswith(address) for url in urls] == [True] * len(urls)
    if address:
        assert f"{address}/blob/HEAD/docs/limits.md" in links
        assert f"{address}/raw/HEAD/docs/loss.svg" in links


def unpacked(sdist: Path, folder: Path) -> Path:
    with tarfile.open(sdist) as archive:
        archive.extractall(folder)
    (tree,) = (path for path in folder.iterdir() if path.is_dir())
    return tree


def test_the_sdist_tests_itself(sdist: Path, tmp_path: Path) -> None:
    """A part that needs no library and no network; what lies around the tests must be there."""
    tree = unpacked(sdist, tmp_path)
    assert "Measure" in run(sys.executable, tree / "workbench", "--help", cwd=tmp_path)
    chosen = (
        "rewrite/test_match.py",
        "test_layout.py",
        "test_public_api.py",
        "packaging/test_release.py",
    )
    tests = [tree / "tests" / name for name in chosen]
    command = ("-c", SDIST_TESTS, tree, "-q", "-p", "no:cacheprovider", *tests)
    said = run(sys.executable, *command, cwd=tree)
    assert " passed" in said
    assert "failed" not in said


def test_a_wheel_without_a_matrix(sdist: Path, tmp_path: Path) -> None:
    """Somebody deletes it, and measures anew with what is built then."""
    tree = unpacked(sdist, tmp_path)
    (tree / "compat_matrix.yaml").unlink()
    build(tmp_path, "--no-isolation", "--wheel", tree=tree)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "patchkit/patches/trl/adapter_bf16_cast.py" in names
    assert "patchkit/compat_matrix.yaml" not in names


def test_editable(tmp_path: Path) -> None:
    python = environment(tmp_path)
    install_dependencies(python)
    install(python, "-e", ROOT)
    outcome = check_install(python, tmp_path)
    assert outcome["file"] == str(ROOT / "patchkit" / "__init__.py")
