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
# The arguments of `apply` as messages name them, and the options that set them.
_OPTION_FOR = {
    "only=": "--patchkit-only",
    "exclude=": "--patchkit-exclude",
    "strict=True": "--patchkit-strict",
}
_WHOLE_RUN = pytest.StashKey[contextlib.ExitStack]()
_ANSWER = "patchkit_answer"
"""The attribute of a report with the lines that answer its error; xdist passes it on."""
_ONE_TEST = pytest.StashKey[contextlib.ExitStack]()


def pytest_addoption(parser: pytest.Parser) -> None:
    help_on = "fix the installed libraries before conftest files and tests are imported"
    group = parser.getgroup("patchkit", "patchkit: fixes precision bugs in memory")
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
        help="the same, and stop if a patch that is due cannot be applied",
    )
    parser.addini("patchkit", f"{help_on}, as --patchkit does", type="bool", default=False)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    _apply_for_run(early_config, early_config.known_args_namespace)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(*ids, exclude=None, strict=False, dtype=None, **settings): run the test with "
        "only these patches of patchkit: ids or globs; all that are due if none is given; or "
        "False for no patch at all",
    )
    # If a conftest file loads the plugin, it is too late for the hook above.
    _apply_for_run(config, config.option)


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
        lines.append(
            f"patchkit: {short_list(f'{record.id} {record.status}' for record in trouble)}"
        )
    return lines


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome: Any = yield
    _add_answer(item.config, outcome.get_result(), call)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    outcome: Any = yield
    report = outcome.get_result()
    _add_answer(collector.config, report, getattr(report, "call", None))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    answers: dict[tuple[str, ...], list[str]] = {}
    for kind in ("failed", "error"):
        for report in terminalreporter.getreports(kind):
            if lines := getattr(report, _ANSWER, None):
                answers.setdefault(tuple(lines), []).append(report.nodeid)
    if not answers:
        return
    from .text import short_list

    terminalreporter.section("patchkit explain")
    for lines, tests in answers.items():
        for line in (*lines, f"  in: {short_list(tests)}"):
            terminalreporter.write_line(line)


@pytest.fixture
def patchkit_report() -> patchkit.Report:
    """Return `patchkit.report()` as the test begins."""
    return patchkit.report()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    marker = _innermost_marker(item)
    if marker is None:
        return
    try:
        item.stash[_ONE_TEST] = _enter(_block_for(marker, item.config), item.warn)
    except (patchkit.PatchError, patchkit.PatchWarning) as error:
        message = f"@pytest.mark.{_MARKER}: {str(error).replace('only=', 'the marker')}"
        raise pytest.fail.Exception(message, pytrace=False) from None


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    yield
    if _ONE_TEST in item.stash:
        item.stash[_ONE_TEST].close()
        del item.stash[_ONE_TEST]


def _apply_for_run(config: pytest.Config, options: argparse.Namespace) -> None:
    """Apply patches for the whole run, if the options say so and it was not done yet."""
    # If the plugin is loaded late, the parsed options lack its own.
    only = _split(getattr(options, "patchkit_only", None))
    exclude = _split(getattr(options, "patchkit_exclude", None))
    strict = bool(getattr(options, "patchkit_strict", False))
    requested = only or exclude or strict or getattr(options, "patchkit", False)
    if _WHOLE_RUN in config.stash or not (requested or config.getini("patchkit")):
        return
    try:
        config.stash[_WHOLE_RUN] = _enter(
            patchkit.patched(only or None, exclude or None, strict=strict),
            lambda warning: config.issue_config_time_warning(warning, stacklevel=2),
        )
    except (patchkit.PatchError, patchkit.PatchWarning) as error:
        message = str(error)
        for argument, option in _OPTION_FOR.items():
            message = message.replace(argument, option)
        raise pytest.UsageError(f"patchkit: {message}") from None
    config.add_cleanup(config.stash[_WHOLE_RUN].close)


def _add_answer(
    config: pytest.Config,
    report: pytest.TestReport | pytest.CollectReport,
    call: pytest.CallInfo[Any] | None,
) -> None:
    """Put into the report of a failure what is known of its error."""
    if _WHOLE_RUN not in config.stash or not report.failed or call is None or not call.excinfo:
        return
    from .known import unasked

    if not unasked.is_switched_off():
        # An error of ours must not become one of the run.
        with contextlib.suppress(Exception):
            setattr(report, _ANSWER, unasked.answer_lines(call.excinfo.value))


def _split(values: list[str] | None) -> list[str]:
    if not values:
        return []
    from .text import split_names

    return split_names(values)


def _innermost_marker(item: pytest.Item) -> pytest.Mark | None:
    for node in reversed(item.listchain()):
        # Marks of parameters come after those of their function, a subclass's after its base's.
        for marker in reversed(node.own_markers):
            if marker.name == _MARKER:
                return marker
    return None


def _block_for(marker: pytest.Mark, config: pytest.Config) -> AbstractContextManager[Any]:
    """Return a block with the patches that a marker names.

    Raises:
        UsageError: the marker's arguments make no sense.
    """
    options = {"strict": config.getoption("patchkit_strict"), **marker.kwargs}
    if wrong := {"only", "others"} & options.keys():
        raise patchkit.UsageError(
            f"takes ids and globs without a keyword, such as patchkit('trl-*'), not {min(wrong)!r}"
        )
    if marker.args == (False,):
        if marker.kwargs:
            raise patchkit.UsageError("False means no patch at all, and takes no other arguments")
        return patchkit.patched(exclude="*", others=False)
    return patchkit.patched(marker.args or None, others=False, **options)


def _enter(
    block: AbstractContextManager[Any], warn: Callable[[Warning], None]
) -> contextlib.ExitStack:
    """Enter a block, and return what closes it.

    `warn` gets each warning of the block: pytest shows it in a better place than in its own code.
    """
    with contextlib.ExitStack() as stack:
        with warnings.catch_warnings(record=True) as records:
            warnings.simplefilter("always", patchkit.PatchWarning)
            stack.enter_context(block)
        for record in records:
            assert isinstance(record.message, Warning)
            warn(record.message)
        return stack.pop_all()
