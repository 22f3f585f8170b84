"""A made-up release after the newest of TRL: what a scan says of it on the day it lands."""

from __future__ import annotations

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.matrix.records import Scan
from patchkit.matrix.scan.facts import facts
from patchkit.matrix.scan.tree import Tree
from patchkit.matrix.scan.verdicts import scan_of
from patchkit.matrix.scan.workers import library_questions

pytestmark = pytest.mark.releases

NEWEST = "1.16.0"
GRPO, DPO = "trl.trainer.grpo_trainer", "trl.trainer.dpo_trainer"
CAST = b"param.data = param.data.to(torch.bfloat16)"


@pytest.fixture
def scan(modules):
    """The scan of the newest release, with some modules put in its place or away."""

    def run(changed: Tree, without: str = "") -> Scan:
        questions = library_questions(catalogue.load(), "trl")
        tree = {**modules("trl", NEWEST), **changed}
        tree.pop(without, None)
        found = {name: facts(name, content, questions) for name, content in tree.items()}
        return scan_of("trl", "99.0.0", found, questions)

    return run


def states(scan: Scan, state: str) -> set[str]:
    return {patch for patch, found in scan.states.items() if found == state}


def test_the_same_again(scan) -> None:
    found = scan({})
    assert not states(found, "drifted") | states(found, "present")
    assert found.unlisted == found.notes == {}


def test_another_trainer_with_the_known_cast_is_fixed_by_the_wildcard(scan, modules) -> None:
    new = modules("trl", NEWEST)[DPO].replace(b"class DPOTrainer", b"class NewTrainer")
    assert CAST in new
    found = scan({"trl.trainer.new_trainer": new})
    assert states(found, "drifted") == set()
    assert "trl-adapter-bf16-cast" not in found.unlisted


def test_the_known_cast_in_a_place_that_no_patch_names(scan, modules) -> None:
    new = modules("trl", NEWEST)[DPO].replace(b"class DPOTrainer", b"class Preparation")
    found = scan({"trl.trainer.preparation": new})
    assert found.unlisted == {
        "trl-adapter-bf16-cast": ["trl.trainer.preparation:Preparation.__init__"]
    }


def test_another_cast(scan, modules) -> None:
    changed = modules("trl", NEWEST)[DPO].replace(CAST, CAST.replace(b"bfloat16", b"float16"))
    found = scan({DPO: changed})
    assert states(found, "drifted") == {"trl-adapter-bf16-cast"}
    assert found.notes["trl-adapter-bf16-cast"] == (
        f"{DPO}:DPOTrainer.__init__: expected 1 occurrence of the buggy code, found 0"
    )


def test_a_trainer_that_moves(scan, modules) -> None:
    moved = {"trl.experimental.grpo.grpo_trainer": modules("trl", NEWEST)[GRPO]}
    found = scan(moved, without=GRPO)
    assert states(found, "drifted") == {"trl-adapter-bf16-cast", "trl-generation-cast"}
    assert f"there is no module {GRPO}" in found.notes["trl-generation-cast"]
    assert found.unlisted["trl-generation-cast"] == [
        "trl.experimental.grpo.grpo_trainer:GRPOTrainer._generate_single_turn"
    ]
