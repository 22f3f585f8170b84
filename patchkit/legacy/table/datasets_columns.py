"""What datasets give otherwise than they did."""

from __future__ import annotations

from ..changes import Behaviour, Change
from ..columns import give_list, names_column
from .sources import notes

ROWS: tuple[Change, ...] = (
    Behaviour(
        owners=("datasets.Dataset.__getitem__",),
        name="a column of a dataset as a list",
        meet=give_list,
        concerns=names_column,
        gone="datasets 4.0.0",
        source=notes("datasets 4.0.0").replace("/v4", "/4"),
    ),
)
