"""Draw the loss by step of two trainings, and the step in which one died."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from .drawing import FRAME, INK, PALE
from .outcome import TrainingOutcome, ending, error_line, step_of_death

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class _Run(NamedTuple):
    """The style of one of the two; what is drawn second must not hide the first."""

    name: str
    colour: str
    line: dict[str, Any]


# Two of Okabe and Ito's colours, told apart by the colour-blind too, and by width and marks.
_WITHOUT = _Run("without", "#d55e00", {"linewidth": 4.5, "alpha": 0.55, "marker": ""})
_WITH = _Run("with", "#0072b2", {"linewidth": 1.6, "marker": "o", "markersize": 3.5})
_CHARACTERS = 112
"""Characters of an error in a line as wide as the axes."""
_ERROR_LINES = 3
_ROOM = 0.3
"""The part of the height for the text on one that died."""


def draw_curves(axes: Axes, without: TrainingOutcome, fixed: TrainingOutcome, steps: int) -> None:
    from matplotlib.ticker import MaxNLocator

    runs = ((_WITHOUT, without), (_WITH, fixed))
    for run, outcome in runs:
        losses = list(outcome.get("losses", ()))
        label = f"{run.name} patchkit: {ending(outcome)}"
        style = {"color": run.colour, "label": label, "gid": f"loss:{run.name}", **run.line}
        axes.plot(range(1, len(losses) + 1), losses, **style)
    dead = [(run, outcome) for run, outcome in runs if not outcome["ok"]]
    pad = max(0.03 * (steps - 1), 0.25)
    axes.set_xlim(1 - pad, steps + pad)
    _make_room(axes, [*without.get("losses", ()), *fixed.get("losses", ())], len(dead))
    for number, (run, outcome) in enumerate(dead):
        _annotate_death(axes, run, outcome, steps, 0.96 - number * _ROOM)
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        frameon=False,
        borderaxespad=0.2,
        labelcolor=INK,
        fontsize=9,
        handlelength=1.6,
    )
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
    axes.set_xlabel("step", color=INK)
    axes.set_ylabel("loss", color=INK)
    axes.tick_params(colors=PALE, labelcolor=INK, labelsize=8.5)
    axes.grid(visible=True, axis="y", color="#e4e7ea", linewidth=0.8)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(FRAME)


def _make_room(axes: Axes, losses: list[float], dead: int) -> None:
    """Leave room above the curves for the text on those that died."""
    finite = [loss for loss in losses if math.isfinite(loss)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    high += 0.06 * (high - low) or 0.5
    low -= 0.06 * (high - low)
    free = min(dead * _ROOM + 0.02 * bool(dead), 0.7)
    axes.set_ylim(low, low + (high - low) / (1 - free))
    if not finite:
        axes.set_yticks([])


def _annotate_death(
    axes: Axes, run: _Run, outcome: TrainingOutcome, steps: int, top: float
) -> None:
    step = min(max(step_of_death(outcome), 1), steps)
    dashes: dict[str, Any] = {"color": run.colour, "linewidth": 1.2, "linestyle": (0, (4, 2))}
    axes.axvline(step, gid=f"death:{run.name}", **dashes)
    across = axes.get_xaxis_transform()
    axes.plot([step], [top - 0.03], "X", markersize=9, color=run.colour, transform=across)
    left, right = axes.get_xlim()
    to_the_left = step > (left + right) / 2
    room = max(step - left, right - step) / (right - left)
    lines = textwrap.wrap(
        error_line(outcome),
        int(room * _CHARACTERS) - 3,
        break_on_hyphens=False,
        max_lines=_ERROR_LINES,
        placeholder=" ...",
    )
    place: dict[str, Any] = {"xy": (step, top), "xycoords": across, "va": "top"}
    for down, text, style in (
        (0, f"{run.name} patchkit: {ending(outcome)}", {"weight": "bold", "size": 9}),
        (14, "\n".join(lines), {"size": 8.5}),
    ):
        axes.annotate(
            text,
            xytext=(-9 if to_the_left else 9, -down),
            textcoords="offset points",
            ha="right" if to_the_left else "left",
            color=INK,
            parse_math=False,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            **place,
            **style,
        )
