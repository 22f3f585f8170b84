"""Uses of patchkit, as pairs: what was done before, and what is disturbed."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .world import KINDS, World

Step = Callable[[World], Any]


@dataclass(frozen=True)
class Action:
    """One thing that a user does.

    Args:
        name: its name.
        prepare: what was done before.
        act: what is disturbed.
        as_before: whether it must leave all as it was before it, even if it is disturbed.
        undone: whether it is undone if anything raises.
        imports: whether it is an import, which only what is no `Exception` may come out of.
        replaces: the targets that somebody else replaced while preparing.
        put_back: what that somebody does afterwards.
    """

    name: str
    prepare: Step
    act: Step
    as_before: bool = False
    undone: bool = False
    imports: bool = False
    replaces: Callable[[World], tuple[str, ...]] = lambda world: ()
    put_back: Step = lambda world: None


def _nothing(world: World) -> None:
    pass


def _applied(world: World) -> None:
    world.load()
    world.apply()


def _half_applied(world: World) -> None:
    world.load()
    world.apply(world.ids[0])


def _second_half(world: World) -> list[str]:
    return list(world.ids[1:] or world.ids)


def _apply_and_log(world: World) -> None:
    """Apply with a logger that wants the summary of the report."""
    logger = logging.getLogger("patchkit")
    level = logger.level
    logger.setLevel(logging.INFO)
    try:
        world.apply()
    finally:
        logger.setLevel(level)


def _revert_first(world: World) -> None:
    world.revert(world.ids[0])


def _block(world: World) -> None:
    with world.patched(_second_half(world)):
        pass


def _block_alone(world: World) -> None:
    with world.patched(_second_half(world), others=False):
        pass


_originals: dict[str, Any] = {}


def _first_target(world: World) -> tuple[str, ...]:
    return (world.places[0].target,)


def foreign(*args: Any, **kwargs: Any) -> str:
    """Stand where somebody else put it."""
    return "foreign"


def _overridden(world: World) -> None:
    _applied(world)
    place = world.places[0]
    owner, name = owner_of(place.module, place.qualname)
    _originals[place.target] = vars(owner)[name]
    setattr(owner, name, foreign)


def _put_back(world: World) -> None:
    place = world.places[0]
    owner, name = owner_of(place.module, place.qualname)
    setattr(owner, name, _originals[place.target])


def owner_of(module: str, qualname: str) -> tuple[Any, str]:
    """Return the module or class that holds what a qualified name names, and its name there."""
    owner: Any = sys.modules[module]
    *path, name = qualname.split(".")
    for part in path:
        owner = vars(owner)[part]
    return owner, name


def _reloaded(world: World) -> None:
    _applied(world)
    importlib.reload(sys.modules[world.places[0].module])


def _executed_again(world: World) -> None:
    """Execute a module again past the import system, so that only `apply` finds its functions."""
    _applied(world)
    module = sys.modules[world.places[0].module]
    file = str(module.__file__)
    exec(compile(Path(file).read_text(), file, "exec"), vars(module))


def _in_reloaded_module(world: World) -> tuple[str, ...]:
    """Return what a reload replaced."""
    module = world.places[0].module
    return tuple(place.target for place in world.places if place.module == module)


ACTIONS = (
    Action("apply, loaded", World.load, World.apply, undone=True),
    Action("apply, logged", World.load, _apply_and_log, undone=True),
    Action("apply, not loaded", _nothing, World.apply, undone=True),
    Action("apply again", _applied, World.apply, undone=True),
    Action(
        "apply again, one overridden",
        _overridden,
        World.apply,
        undone=True,
        replaces=_first_target,
        put_back=_put_back,
    ),
    Action(
        "apply again, one reloaded",
        _reloaded,
        World.apply,
        undone=True,
        replaces=_in_reloaded_module,
    ),
    Action(
        "apply again, one executed again",
        _executed_again,
        World.apply,
        undone=True,
        replaces=_in_reloaded_module,
    ),
    Action("apply more", _half_applied, World.apply, undone=True),
    Action("import", World.apply, World.load, imports=True),
    Action("revert", _applied, World.revert),
    Action("revert, not loaded", World.apply, World.revert),
    Action("revert one", _applied, _revert_first),
    Action("patched", _half_applied, _block, as_before=True),
    Action("patched, others=False", _half_applied, _block_alone, as_before=True),
    Action("patched, not loaded", _nothing, _block, as_before=True),
    Action("report", _applied, World.report, as_before=True),
)

SCENARIOS = {
    f"{kind}: {action.name}": (patches, action)
    for kind, patches in KINDS.items()
    for action in ACTIONS
}
