"""The pytest plugin: `pytest --patchkit`, and a marker for tests with given patches only.

Every pytest in an environment with patchkit imports this module, so it imports nothing heavy.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

import patchkit

if TYPE_CHECKING:
    import argparse
    from contextlib import AbstractContextManager

_MARKER = "patchkit"
# What messages call the arguments of `apply`, and what the user of a command line calls them.
_OPTION_FOR = {
    "only=": "--patchkit-only",
    "exclude=": "--patchkit-exclude",
    "strict=True": "--patchkit-strict",
}
_WHOLE_RUN = pytest.StashKey[contextlib.ExitStack]()
_ONE_TEST = pytest.StashKey[contextlib.ExitStack]()


def pytest_addoption(parser: pytest.Parser) -> None:
    help_on = "mend the installed libraries before conftest files and tests are imported"
    group = parser.getgroup("patchkit", "patchkit: mends precision bugs in memory")
    group.addoption("--patchkit", action="store_true", help=help_on)
    group.addoption(
        "--patchkit-only",
        action="append",
        metavar="ID,GLOB",
        help="the same, these patches only; may be repeated",
    )
    group.addoption(
        "--patchkit-exclude",
        action="append",
        metavar="ID,GLOB",
        help="the same, without these patches; may be repeated",
    )
    group.addoption(
        "--patchkit-strict",
        action="store_true",
        help="the same, and stop where a patch that is due cannot be applied",
    )
    parser.addini("patchkit", f"{help_on}, as --patchkit does", type="bool", default=False)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    _begin(early_config, early_config.known_args_namespace)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(*ids, exclude=None, strict=False, dtype=None, **settings): run the test with "
        "these patches of patchkit and no others: ids or globs, all that are due if none is "
        "given, or False for no patch at all",
    )
    # Where the plugin was loaded too late for the hook above: by a conftest file, say.
    _begin(config, config.option)


def pytest_report_header(config: pytest.Config) -> list[str]:
    if _WHOLE_RUN not in config.stash:
        return []
    from .reporting.status import TROUBLE
    from .text import short_list

    report = patchkit.report()
    applied, pending = report.with_status("applied"), report.with_status("pending")
    counts = f"{len(applied)} applied, {len(pending)} pending until their modules are imported"
    lines = [f"patchkit {patchkit.__version__}: {counts}"]
    if trouble := report.with_status(*TROUBLE):
        lines.append(f"patchkit: {short_list(f'{one.id} {one.status}' for one in trouble)}")
    return lines


@pytest.fixture
def patchkit_report() -> patchkit.Report:
    """What patchkit has applied in this test: `patchkit.report()` as the test begins."""
    return patchkit.report()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    marker = _innermost_marker(item)
    if marker is None:
        return
    try:
        item.stash[_ONE_TEST] = _entered(_asked_for_by(marker, item.config), item.warn)
    except (patchkit.PatchError, patchkit.PatchWarning) as error:
        message = f"@pytest.mark.{_MARKER}: {str(error).replace('only=', 'the marker')}"
        raise pytest.fail.Exception(message, pytrace=False) from None


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    yield
    if _ONE_TEST in item.stash:
        item.stash[_ONE_TEST].close()
        del item.stash[_ONE_TEST]


def _begin(config: pytest.Config, options: argparse.Namespace) -> None:
    """Apply for the whole run, if that was asked for and has not been done yet."""
    # A plugin that is loaded late has no options yet in what was parsed before.
    only = _split(getattr(options, "patchkit_only", None))
    exclude = _split(getattr(options, "patchkit_exclude", None))
    strict = bool(getattr(options, "patchkit_strict", False))
    asked = only or exclude or strict or getattr(options, "patchkit", False)
    if _WHOLE_RUN in config.stash or not (asked or config.getini("patchkit")):
        return
    try:
        config.stash[_WHOLE_RUN] = _entered(
            patchkit.patched(only or None, exclude or None, strict=strict),
            lambda warning: config.issue_config_time_warning(warning, stacklevel=2),
        )
    except (patchkit.PatchError, patchkit.PatchWarning) as error:
        message = str(error)
        for argument, option in _OPTION_FOR.items():
            message = message.replace(argument, option)
        raise pytest.UsageError(f"patchkit: {message}") from None
    config.add_cleanup(config.stash[_WHOLE_RUN].close)


def _split(given: list[str] | None) -> list[str]:
    if not given:
        return []
    from .text import split_names

    return split_names(given)


def _innermost_marker(item: pytest.Item) -> pytest.Mark | None:
    for node in reversed(item.listchain()):
        # Marks of parameters come after those of their function, a subclass's after its base's.
        for marker in reversed(node.own_markers):
            if marker.name == _MARKER:
                return marker
    return None


def _asked_for_by(marker: pytest.Mark, config: pytest.Config) -> AbstractContextManager[Any]:
    """A block with the patches that a marker names.

    Raises:
        UsageError: the marker's arguments make no sense.
    """
    options = {"strict": config.getoption("patchkit_strict"), **marker.kwargs}
    if named := {"only", "others"} & options.keys():
        raise patchkit.UsageError(
            f"takes ids and globs without a keyword, such as patchkit('trl-*'), not {min(named)!r}"
        )
    if marker.args == (False,):
        if marker.kwargs:
            raise patchkit.UsageError("False means no patch at all, and takes no other arguments")
        return patchkit.patched(exclude="*", others=False)
    return patchkit.patched(marker.args or None, others=False, **options)


def _entered(
    block: AbstractContextManager[Any], warn: Callable[[Warning], None]
) -> contextlib.ExitStack:
    """Enter a block, and leave it to the caller to close it.

    Args:
        block: what to enter.
        warn: is given what the block warns of: pytest knows a better place for it than the line
            of its machinery that called us.
    """
    with contextlib.ExitStack() as stack:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", patchkit.PatchWarning)
            stack.enter_context(block)
        for each in caught:
            assert isinstance(each.message, Warning)
            warn(each.message)
        return stack.pop_all()
