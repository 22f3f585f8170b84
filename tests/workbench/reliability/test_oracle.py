"""What the tools judge by finds what is wrong, and nothing where all is well."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from workbench.reliability import inject, oracle
from workbench.reliability import world as worlds
from workbench.reliability.scenarios import Action
from workbench.reliability.snapshots import Snapshot


@pytest.fixture
def world() -> Iterator:
    with worlds.world_of() as made:
        made.load()
        yield made


def test_nothing_to_find(world) -> None:
    assert not oracle.untrue(world, world.report())
    report = world.apply()
    assert not oracle.untrue(world, report)
    assert not oracle.all_applied(world, report)
    report = world.revert()
    assert not oracle.untrue(world, report)
    assert not oracle.not_original(world)


def test_a_report_that_is_no_longer_true(world) -> None:
    before = world.report()
    applied = world.apply()
    assert any("says nothing, available" in sentence for sentence in oracle.untrue(world, before))
    world.revert()
    assert any("says applied" in sentence for sentence in oracle.untrue(world, applied))


def test_what_is_not_fixed_or_not_original(world) -> None:
    report = world.report()
    assert any("did not fix" in sentence for sentence in oracle.all_applied(world, report))
    world.apply()
    assert any("is not the original" in sentence for sentence in oracle.not_original(world))
    assert any("linecache" in sentence for sentence in oracle.leftovers(list(sys.meta_path)))
    assert any("sys.meta_path" in sentence for sentence in oracle.leftovers([]))


def test_what_a_snapshot_sees(world) -> None:
    module = sys.modules["madeup.trainer"]
    before = Snapshot.of([module])
    assert not before.differences(Snapshot.of([module]))
    module.Trainer.step.note = "new"
    module.size.__defaults__ = (2,)
    module.Trainer.extra = 1
    del module.length
    changed = before.differences(Snapshot.of([module]))
    assert sorted(changed) == [
        "madeup.trainer:Trainer.extra",
        "madeup.trainer:Trainer.step().__dict__['note']",
        "madeup.trainer:length",
        "madeup.trainer:size().__defaults__",
    ]
    module.length = len
    del module.Trainer.extra


def test_every_line_of_the_engine_is_a_point(world) -> None:
    points = inject.points_of(world.report)
    assert len(points) > 100
    assert [point.number for point in points] == list(range(len(points)))
    assert any(point.with_end for point in points)
    point = points[len(points) // 2]
    assert inject.disturbed(world.report, point, MemoryError) == "MemoryError"
    assert len(inject.chosen(points, 2)) < len(points)
    assert inject.chosen(points, 0) == points


def test_a_call_that_raises_with_everything_applied_is_found(world, monkeypatch) -> None:
    def raises_at_its_end(act, point, error) -> str:
        act()
        return error.__name__

    monkeypatch.setattr(inject, "disturbed", raises_at_its_end)
    before = oracle.carried(world)
    world.apply()
    after = oracle.carried(world)
    world.revert()
    point = inject.Point(0, "engine/session.py:1", with_end=False)
    for undone in (True, False):
        action = Action("apply", lambda world: None, lambda world: world.apply(), undone=undone)
        found = inject.try_point(world, action, point, MemoryError, before, after)
        assert any(problem.startswith("not undone") for problem in found) == undone


def test_what_an_error_in_the_hook_passes_by() -> None:
    source = inject.HOOK.read_text(encoding="utf-8")
    lines = inject.unguarded(source, {"find_spec", "exec_module", "_notify_after"})
    assert sorted(lines.values()) == [
        "_notify_after(self._name, module)",
        "self._loader.exec_module(module)",
        "try:",
        "try:",
        "try:",
    ]
