"""Methods that changed a dataset in place, of which today's return another one."""

from __future__ import annotations

from typing import Any


def cast(dataset: Any, *arguments: Any, **keywords: Any) -> None:
    _become(dataset, "cast", arguments, keywords)


def flatten(dataset: Any, *arguments: Any, **keywords: Any) -> None:
    _become(dataset, "flatten", arguments, keywords)


def remove_columns(dataset: Any, *arguments: Any, **keywords: Any) -> None:
    _become(dataset, "remove_columns", arguments, keywords)


def rename_column(dataset: Any, *arguments: Any, **keywords: Any) -> None:
    _become(dataset, "rename_column", arguments, keywords)


def _become(
    dataset: Any, method: str, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> None:
    """Give a dataset, or each of several by name, the content that a method returns."""
    for each in dataset.values() if isinstance(dataset, dict) else (dataset,):
        changed = getattr(each, method)(*arguments, **keywords)
        each.__dict__ = {**vars(changed)}
