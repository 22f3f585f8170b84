"""Whose code is it: read off where a file lies, and off the records of what is installed."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from patchkit.whose import CodeOwner, Whose, installed_place, owner_of_class, owner_of_file

from .installed import distribution, write
from .processes import run_python

ASK = """
import sys
from patchkit.whose import owner_of_frame
owner = owner_of_frame(sys._getframe())
print(owner.whose.value, owner.name)
"""


def said(*command: str, folder: Path, path: tuple[Path, ...] = ()) -> str:
    """Return what a Python prints that runs in a folder, with others on its path."""
    paths = [*map(str, path), str(Path(__file__).parents[1])]
    done = run_python(*command, folder=folder, PYTHONPATH=os.pathsep.join(paths))
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("requires", "owner"),
    [
        (("transformers>=5",), "framework made-up"),
        (("torch", "PEFT (>=0.1)"), "framework made-up"),
        (("torch",), "library made"),
        (("trl; extra == 'all'",), "library made"),
        (("tokenizers-transformers",), "library made"),
    ],
)
@pytest.mark.parametrize("folder", ["site-packages", "elsewhere"])
def test_an_installed_distribution(tmp_path, folder, requires, owner) -> None:
    site = tmp_path / folder
    distribution(site, "made-up", "2.0", *requires, RECORD="made/__init__.py,,\n")
    write(site, {"made.py": "", "made/__init__.py": ASK})
    assert said("-c", "import made", folder=tmp_path, path=(site,)) == owner


def test_a_distribution_that_names_its_packages(tmp_path) -> None:
    site = tmp_path / "dist-packages"
    distribution(site, "made-up", "2.0", "datasets", **{"top_level.txt": "made\n"})
    write(site, {"made/__init__.py": "", "made/deep.py": ASK})
    assert said("-c", "import made.deep", folder=tmp_path, path=(site,)) == "framework made-up"
    assert said("-m", "made.deep", folder=tmp_path, path=(site,)) == "framework made-up"


def test_parts_of_a_namespace_package_that_several_distributions_install(tmp_path) -> None:
    site = tmp_path / "site-packages"
    distribution(site, "made-first", "2.0", "trl", RECORD="made/first.py,,\n")
    distribution(site, "made-second", "2.0", "trl", RECORD="made/second/__init__.py,,\n")
    distribution(site, "made-third", "2.0", "numpy", RECORD="made/third.py,,\n")
    write(site, {"made/first.py": ASK, "made/second/__init__.py": ASK, "made/third.py": ASK})
    owners = [
        said("-c", f"import made.{part}", folder=tmp_path, path=(site,))
        for part in ("first", "second", "third")
    ]
    assert owners == ["framework made-first", "framework made-second", "library made"]


def test_a_script_and_what_lies_beside_it(tmp_path) -> None:
    write(tmp_path, {"train.py": f"import mine\n{ASK}", "mine.py": ASK})
    assert said("train.py", folder=tmp_path) == "user \nuser"
    assert said("-c", ASK, folder=tmp_path) == "user"
    assert said("-c", f"exec({ASK!r}, {{}})", folder=tmp_path) == "user"
    write(tmp_path, {"sub/pkg/__init__.py": "", "sub/pkg/train.py": ASK})
    assert said("-m", "sub.pkg.train", folder=tmp_path) == "user"


def editable(folder: Path) -> Path:
    """Install a package from a folder, as `pip install -e` does; return the installed packages."""
    origin = json.dumps({"url": (folder / "own").as_uri(), "dir_info": {"editable": True}})
    distribution(folder / "site-packages", "own", "2.0", "trl", **{"direct_url.json": origin})
    write(folder / "own", {"src/own/__init__.py": ASK, "src/own/train.py": "", "run.py": ""})
    return folder / "site-packages"


def test_an_editable_install_is_a_framework_unless_the_user_runs_it(tmp_path) -> None:
    path = (editable(tmp_path), tmp_path / "own" / "src")
    write(tmp_path, {"other.py": "import own", "own/run.py": "import own"})
    assert said("other.py", folder=tmp_path, path=path) == "framework own"
    assert said("own/run.py", folder=tmp_path, path=path) == "user"
    assert said("-m", "own.train", folder=tmp_path, path=path) == "user"
    assert said("-W", "ignore", "-m", "own.train", folder=tmp_path, path=path) == "user"


def test_an_editable_install_that_needs_no_library_is_the_users(tmp_path) -> None:
    site = editable(tmp_path)
    write(site, {"own-2.0.dist-info/METADATA": "Name: own\nVersion: 2.0\n"})
    path = (site, tmp_path / "own" / "src")
    write(tmp_path, {"other.py": "import own"})
    assert said("other.py", folder=tmp_path, path=path) == "user"


@pytest.mark.parametrize(
    ("file", "owner"),
    [
        (os.__file__, CodeOwner(Whose.INTERPRETER)),
        ("<frozen importlib._bootstrap>", CodeOwner(Whose.INTERPRETER)),
        (os.path.join(os.path.dirname(sys.executable), "trl"), CodeOwner(Whose.INTERPRETER)),
        ("/nowhere/site-packages/trl/scripts/sft.py", CodeOwner(Whose.LIBRARY, "trl")),
        ("/nowhere/site-packages/other/a.py", CodeOwner(Whose.LIBRARY, "other")),
        ("/nowhere/unsloth_compiled_cache/UnslothTrainer.py", CodeOwner(Whose.LIBRARY, "unsloth")),
        (
            "/home/me/.cache/huggingface/modules/transformers_modules/a/modeling_a.py",
            CodeOwner(Whose.FRAMEWORK, "transformers_modules"),
        ),
        ("/tmp/ipykernel_7/123.py", CodeOwner(Whose.USER)),
        ("<ipython-input-1-abc>", CodeOwner(Whose.USER)),
    ],
)
def test_files(file: str, owner: CodeOwner) -> None:
    assert owner_of_file(file) == owner


def test_classes() -> None:
    class Mine:
        """Defined in a test."""

    assert owner_of_class(Mine).whose is Whose.USER
    assert owner_of_class(type("Made", (), {"__module__": "trl.trainer"})).name == "trl"
    assert owner_of_class(Whose).whose is Whose.OURS
    assert owner_of_class(Path).whose is Whose.INTERPRETER
    assert owner_of_class(int).whose is Whose.INTERPRETER
    assert owner_of_class(type(pytest.mark)).whose is Whose.LIBRARY


def test_all_frameworks(tmp_path) -> None:
    site = tmp_path / "site-packages"
    for name, requirement in {"made-up": "trl", "other": "torch", "trl": "transformers"}.items():
        distribution(site, name, "2.0", requirement)
    program = "from patchkit.environment import frameworks; print(frameworks()['made-up'].version, "
    program += "'other' in frameworks(), 'trl' in frameworks())"
    assert said("-c", program, folder=tmp_path, path=(site,)) == "2.0 False False"


@pytest.mark.parametrize(
    ("file", "place"),
    [
        (r"C:\x\Lib\site-packages\peft\a.py", "peft/a.py"),
        ("/a/site-packages/b/site-packages/c.py", "c.py"),
        ("/work/trl/trainer.py", ""),
    ],
)
def test_places_of_installed_packages(file: str, place: str) -> None:
    assert installed_place(file) == place
