"""Arguments of a call in LibCST's tree: taken away and added, with all comments kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import libcst as cst


def rearranged(
    parts: Sequence[Any],
    gone: Sequence[bool],
    new: Sequence[Any],
    opening: Any,
    stays: Sequence[bool] | None = None,
) -> tuple[list[Any], Any]:
    """Return arguments, entries or names without some and with new ones.

    Args:
        parts: those that are there.
        gone: which of them go.
        new: those that come.
        opening: the space behind the bracket; None if there is none.
        stays: of which the comment behind them stays, if they have lines of their own; None if
            all do.

    Returns:
        the parts, and the space behind the bracket, which gets the comments on what went.
    """
    everything = added(parts, new, opening)
    stays = [*(stays or [True] * len(parts)), *[True] * len(new)]
    kept, comments = _without(everything, [*gone, *[False] * len(new)], opening, stays)
    if not comments:
        return kept, opening
    if isinstance(opening, cst.ParenthesizedWhitespace):
        return kept, opening.with_changes(empty_lines=[*opening.empty_lines, *comments])
    return kept, cst.ParenthesizedWhitespace(empty_lines=comments, indent=True)


def _without(
    parts: Sequence[Any], gone: Sequence[bool], opening: Any, stays: Sequence[bool]
) -> tuple[list[Any], list[cst.EmptyLine]]:
    """Return the parts that stay, and comments that stood before the first of them."""
    leading = before = opening
    kept: list[Any] = []
    waiting: list[cst.EmptyLine] = []
    trailing = parts[-1] if parts else None
    for part, goes, comment_stays in zip(parts, gone, stays, strict=True):
        # What stands behind an argument that has a line of its own is about that.
        has_line = isinstance(before, cst.ParenthesizedWhitespace)
        before = space = _space_after(part)
        if not goes:
            kept.append(part)
            leading = space
            continue
        comments = _comments(space, leading, has_line and not comment_stays)
        if kept:
            kept[-1] = _with_space(kept[-1], _joined(_space_after(kept[-1]), space, comments))
        else:
            waiting += comments
    if kept and trailing is not None and gone[-1]:
        kept[-1] = _as_last(kept[-1], trailing)
    return kept, waiting


def added(parts: Sequence[Any], new: Sequence[Any], opening: Any = None) -> list[Any]:
    """Return parts with more at the end, each on its own line if those have their own."""
    if not new or not parts:
        return [*parts, *new]
    last = parts[-1]
    between = _between(parts, opening)
    end = _space_after(last)
    has_comma = isinstance(last.comma, cst.Comma)
    own_line = isinstance(end, cst.ParenthesizedWhitespace)
    first = between
    if own_line and end.first_line.comment is not None:
        # It is about the argument before it, and ends a line.
        line = between if isinstance(between, cst.ParenthesizedWhitespace) else end
        first = end.with_changes(empty_lines=[], indent=True, last_line=line.last_line)
        end = end.with_changes(first_line=cst.TrailingWhitespace(newline=end.first_line.newline))
    comma: Any = last.comma if has_comma else cst.Comma()
    head = last.with_changes(comma=comma.with_changes(whitespace_after=first))
    if isinstance(last, cst.Arg) and not has_comma:
        head = head.with_changes(whitespace_after_arg=cst.SimpleWhitespace(""))
    middle = [_followed(part, between, with_comma=True) for part in new[:-1]]
    return [*parts[:-1], head, *middle, _followed(new[-1], end, has_comma)]


def _followed(part: Any, space: Any, with_comma: bool) -> Any:
    """Return a new part with the space behind it, which takes the comment of an argument."""
    if isinstance(part, cst.Arg):
        own: Any = part.whitespace_after_arg
        are_lines = isinstance(own, cst.ParenthesizedWhitespace)
        if isinstance(space, cst.ParenthesizedWhitespace) and are_lines:
            line = own.first_line.with_changes(newline=space.first_line.newline)
            space = space.with_changes(first_line=line)
        after = cst.SimpleWhitespace("") if with_comma else space
        part = part.with_changes(whitespace_after_arg=after)
    return part.with_changes(comma=cst.Comma(whitespace_after=space)) if with_comma else part


def keyword_argument(name: str, source: str, comment: str | None = None) -> cst.Arg:
    """Return `name=source` as an argument, which a comment may follow."""
    line = cst.TrailingWhitespace(cst.SimpleWhitespace("  "), cst.Comment(comment or "#"))
    space = cst.ParenthesizedWhitespace(line) if comment else cst.SimpleWhitespace("")
    return cst.Arg(
        whitespace_after_arg=space,
        keyword=cst.Name(name),
        value=expression(source),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )


def expression(source: str) -> cst.BaseExpression:
    """Return an expression that may go over several lines."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    try:
        return cst.parse_expression(source)
    except cst.ParserSyntaxError:
        return cst.parse_expression(f"({source})")


def entries(sources: Mapping[str, str]) -> list[cst.DictElement]:
    """Return entries of a dictionary in braces."""
    return [
        cst.DictElement(cst.SimpleString(f'"{name}"'), expression(source))
        for name, source in sources.items()
    ]


def _between(parts: Sequence[Any], opening: Any) -> Any:
    """Return the space between two parts, without comments."""
    spaces = [_space_after(part) for part in parts[:-1]] or [opening]
    for space in reversed(spaces):
        if isinstance(space, cst.ParenthesizedWhitespace):
            return cst.ParenthesizedWhitespace(
                first_line=cst.TrailingWhitespace(newline=space.first_line.newline),
                indent=space.indent,
                last_line=space.last_line,
            )
    return cst.SimpleWhitespace(" ")


def _space_after(part: Any) -> Any:
    if isinstance(part.comma, cst.Comma):
        return part.comma.whitespace_after
    if isinstance(part, cst.Arg):
        return part.whitespace_after_arg
    return cst.SimpleWhitespace("")


def _with_space(part: Any, space: Any) -> Any:
    if isinstance(part.comma, cst.Comma):
        return part.with_changes(comma=part.comma.with_changes(whitespace_after=space))
    if isinstance(part, cst.Arg):
        return part.with_changes(whitespace_after_arg=space)
    return part


def _comments(space: Any, leading: Any = None, without_first: bool = False) -> list[cst.EmptyLine]:
    """Return the comments in a space, each as a line of its own."""
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return []
    lines = [line for line in space.empty_lines if line.comment is not None]
    if space.first_line.comment is not None and not without_first:
        place = leading if isinstance(leading, cst.ParenthesizedWhitespace) else space
        own = cst.EmptyLine(
            indent=place.indent, whitespace=place.last_line, comment=space.first_line.comment
        )
        return [own, *lines]
    return lines


def _joined(before: Any, gone: Any, comments: Sequence[cst.EmptyLine]) -> Any:
    """Return the space where a part has gone from."""
    if isinstance(before, cst.ParenthesizedWhitespace):
        last = gone if isinstance(gone, cst.ParenthesizedWhitespace) else before
        return before.with_changes(
            empty_lines=[*before.empty_lines, *comments],
            indent=last.indent,
            last_line=last.last_line,
        )
    return gone


def _as_last(part: Any, former: Any) -> Any:
    """Return a part as the last one: with a comma only if the former last one had one."""
    if not isinstance(part.comma, cst.Comma):
        return part
    space = part.comma.whitespace_after
    is_line = isinstance(space, cst.ParenthesizedWhitespace) and not _comments(space)
    if is_line and not isinstance(part, cst.Arg):
        return part.with_changes(comma=former.comma)  # the bracket has its line
    if isinstance(former.comma, cst.Comma):
        return part
    if isinstance(part, cst.Arg) and not _comments(space):
        space = former.whitespace_after_arg
    if isinstance(part, cst.Arg):
        return part.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=space)
    if isinstance(space, cst.SimpleWhitespace):
        return part.with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return part
