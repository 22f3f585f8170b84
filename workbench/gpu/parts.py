"""The parts in order of value, and how the program and the processes of the parts talk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from patchkit.lab.course import Course

Row = dict[str, Any]
"""What was measured of one unit; `unit` names it, and `outcome` is "ok" or what went wrong."""

WITHOUT, WITH = "without", "with"


@dataclass(frozen=True)
class Part:
    """One part of the check.

    Args:
        name: its module in this package, and its name for `--parts`.
        title: what it measures, for readers.
        share: the share of the whole budget that it may use at most.
        sides: "without" and "with" patchkit, each in a process of its own; or only one.
        timed: whether it measures times, so that nothing may run beside it.
    """

    name: str
    title: str
    share: float
    sides: tuple[str, ...] = (WITHOUT, WITH)
    timed: bool = False


PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        Part("machine", "The machine and its libraries", 0.2, sides=(WITH,)),
        Part("crashes", "fp16 QLoRA with each trainer", 0.45),
        Part("reproducers", "The reproducer of every patch", 0.55, sides=(WITHOUT,)),
        Part("precisions", "fp16 and bf16 side by side, in 4-bit", 0.3, timed=True),
        Part("quant_states", "4-bit layers with another dtype", 0.2, sides=(WITHOUT,), timed=True),
        Part("merges", "Merging and unmerging", 0.15),
        Part("evaluation", "Evaluation in half precision", 0.15),
        Part("generation", "Generation with float32 norms", 0.15),
        Part("compiled", "torch.compile", 0.3),
    )
}


def one_by_one(units: Iterable[str], measure: Callable[[str], Row]) -> Iterator[Row]:
    """Measure units one after the other; an error is an outcome of its unit.

    Raises:
        DeviceLost: after an error, the device does nothing more in this process.
    """
    import traceback

    for unit in units:
        yield {"begin": unit}
        try:
            yield {"unit": unit, "outcome": "ok", **measure(unit)}
        except Exception as error:
            traceback.print_exc()
            yield {"unit": unit, "outcome": "died", "error": in_one_line(error)}
            if not _device_works():
                raise DeviceLost from error


class DeviceLost(RuntimeError):
    """An error left the device unusable for this process."""


def in_one_line(error: BaseException) -> str:
    """Return the class and the text of an error, shortened."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


def died(error: BaseException, course: Course) -> Row:
    """Return what is known of a training that an error ended.

    Args:
        error: the error.
        course: the training as far as it went.
    """
    return {
        "outcome": "died",
        "error": in_one_line(error),
        "step": course.begun,
        "losses": list(course.losses_in_order()),
        "device": course.device,
    }


def reset_peak() -> None:
    """Begin to measure the most memory that tensors take on the GPU."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()


def peak() -> Row:
    """Return the most memory since `reset_peak`, in MiB; nothing on a CPU."""
    import torch

    if not torch.cuda.is_available():
        return {}
    torch.cuda.synchronize()
    return {"peak_mib": round(torch.cuda.max_memory_allocated() / 2**20, 1)}


def _device_works() -> bool:
    import torch

    if not torch.cuda.is_available():
        return True
    try:
        torch.cuda.synchronize()
        return float(torch.ones(1, device="cuda").cpu()) == 1
    except Exception:
        return False
