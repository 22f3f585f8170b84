"""Files of settings in YAML, with current keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import yaml

from ...legacy.versions.due import Due
from ...legacy.wording import LEAVE_OUT
from ..errors import ScriptError
from ..findings import Modernized, ScriptFinding, ScriptOutcome
from ..python import readers
from ..python.readers import Reader
from ..python.settings import Changed, changes
from .edits import (
    TextEdit,
    edited,
    end_of_line,
    line_break,
    line_of,
    remark_above,
    start_of_line,
)

_ENVIRONMENT = "env"
"""The key below which a file of TRL sets environment variables."""


def unknown() -> None:
    """Know no reader."""


def modernize(text: str, due: Due, find: Callable[[], Reader | None] = unknown) -> Modernized:
    """Rewrite the keys and values of a file of settings.

    Args:
        text: of the file.
        due: the rows of the table for the releases that are wanted.
        find: returns what reads the file; if that is None, its keys decide.

    Returns:
        the text with other keys and values; the same text if it has no settings of a training.

    Raises:
        ScriptError: it is not YAML.
    """
    root, content = _parsed(text)
    if not isinstance(root, yaml.MappingNode) or root.flow_style or not isinstance(content, dict):
        return Modernized(text, ())
    keys = [key for key in content if isinstance(key, str)]
    reader = (find() if readers.are_settings(keys) else None) or readers.of_settings(keys)
    if reader is None:
        return Modernized(text, ())
    given = {key: _number(content[key]) for key in keys if key != _ENVIRONMENT}
    file = _File(text, root)
    found = sorted(file.take(changes(given, reader, due)), key=lambda finding: finding.line)
    return Modernized(file.edited(), found)


def _parsed(text: str) -> tuple[yaml.Node | None, Any]:
    """Return the nodes of a file, and what it stands for; nothing if it is several documents."""
    try:
        roots = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
        if len(roots) != 1:
            return None, None
        return roots[0], yaml.safe_load(text)
    except yaml.constructor.ConstructorError:
        return None, None  # tags of another program's
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}: " if mark is not None else ""
        reason = " ".join(str(getattr(error, "problem", None) or error).split())
        raise ScriptError(f"{place}no YAML: {reason}") from error


def _number(value: Any) -> Any:
    """Return a value as a parser of settings takes it: YAML reads `1e-4` as a text."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            pass
    return value


class _File:
    """The text of a file, and where its settings stand."""

    def __init__(self, text: str, root: yaml.MappingNode) -> None:
        self._text = text
        self._nodes = {
            key.value: (key, value) for key, value in root.value if isinstance(key, yaml.ScalarNode)
        }
        self._edits: list[TextEdit] = []

    def edited(self) -> str:
        return edited(self._text, self._edits)

    def take(self, found: Iterator[Changed]) -> Iterator[ScriptFinding]:
        """Rewrite settings that have changed; yield a finding for each."""
        for changed in found:
            key, value = self._nodes[changed.name]
            new, outcome = dict(changed.new or {}), changed.outcome
            if changed.environment:
                new[_ENVIRONMENT] = dict(changed.environment)
            written = ", ".join(f"{name}: {_flow(current)}" for name, current in new.items())
            remark = "" if outcome is ScriptOutcome.CHANGED else f"{changed.name} {changed.because}"
            if changed.new is not None and not self._can_change(changed, new):
                advice = f"write {written}" if new else LEAVE_OUT
                remark = f"{changed.name} {changed.because}; {advice}"
                outcome = ScriptOutcome.REMARKED
            elif changed.new is not None:
                if remark:
                    start, end = self._span(key, value)
                    remark = f"left out: {self._text[start:end]} {changed.because}"
                self._change(changed, new)
            if remark:
                self._edits += remark_above(self._text, key.start_mark.index, remark)
            line = line_of(self._text, key.start_mark.index)
            yield ScriptFinding(line, f"{changed.name}:", written, f"it {changed.because}", outcome)

    def _can_change(self, changed: Changed, new: Mapping[str, Any]) -> bool:
        """Tell whether each setting has lines of its own, and nothing refers to it."""
        if _ENVIRONMENT in new and _ENVIRONMENT in self._nodes:
            return False
        for name in (changed.name, *changed.without):
            key, value = self._nodes[name]
            start = start_of_line(self._text, key.start_mark.index)
            ahead = self._text[start : key.start_mark.index]
            start, end = self._span(key, value)
            if ahead.strip(" \ufeff") or self._text[value.start_mark.index :][:1] in ("&", "*"):
                return False
            if isinstance(value, yaml.CollectionNode) and "#" in self._text[start:end]:
                return False  # a comment would be lost
        return True

    def _change(self, changed: Changed, new: Mapping[str, Any]) -> None:
        key, value = self._nodes[changed.name]
        for name in changed.without:
            self._take_out(*self._nodes[name])
        if not new:
            self._take_out(key, value)
        elif len(new) > 1 or not self._change_in_place(key, value, *next(iter(new.items()))):
            start, end = self._span(key, value)
            between = line_break(self._text) + " " * int(key.start_mark.column)
            lines = between.join(f"{name}: {_flow(current)}" for name, current in new.items())
            self._edits.append(TextEdit(start, end, lines))

    def _change_in_place(self, key: yaml.Node, value: yaml.Node, name: str, today: Any) -> bool:
        """Change a name, or a value of one word, with its quotes; tell whether that is enough."""
        edits = [] if key.value == name else [self._word(key, name)]
        if today != _number(yaml.SafeLoader("").construct_document(value)):
            if not isinstance(value, yaml.ScalarNode) or not isinstance(today, str):
                return False
            if value.style in ("|", ">"):
                return False
            edits.append(self._word(value, today))
        self._edits += edits
        return True

    def _word(self, node: yaml.Node, text: str) -> TextEdit:
        start, end = node.start_mark.index, node.end_mark.index
        quote = self._text[start] if isinstance(node, yaml.ScalarNode) and node.style else ""
        blank = " " if start == end else ""
        return TextEdit(start, end, f"{blank}{quote}{text}{quote}")

    def _take_out(self, key: yaml.Node, value: yaml.Node) -> None:
        """Take the lines of a setting out; a comment behind it stays."""
        start, end = self._span(key, value)
        rest = self._text[end : end_of_line(self._text, end)]
        if rest.strip():
            end += len(rest) - len(rest.lstrip(" \t"))
        else:
            start, end = start_of_line(self._text, start), end + len(rest)
        self._edits.append(TextEdit(start, end, ""))

    def _span(self, key: yaml.Node, value: yaml.Node) -> tuple[int, int]:
        return int(key.start_mark.index), max(self._end(value), int(key.end_mark.index) + 1)

    def _end(self, node: yaml.Node) -> int:
        """Return where a value ends; marks of what stands in blocks are behind comments."""
        if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            return self._end(last[1] if isinstance(last, tuple) else last)
        end = int(node.end_mark.index)
        if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
            return len(self._text[:end].rstrip("\r\n "))
        return end


def _flow(value: Any) -> str:
    """Return a value as it stands in one line."""
    written = yaml.safe_dump(value, default_flow_style=True, width=10**6, sort_keys=False)
    return str(written).removesuffix("...\n").strip()
