"""Write numbers and dtypes for findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..text import plural as plural
from ..text import short_list

if TYPE_CHECKING:
    from .anatomy import Parameter
    from .facts import TrainingFacts

OTHER_HALF = {"float16": "bfloat16", "bfloat16": "float16"}


def short(dtype: object) -> str:
    """Return `bfloat16` for `torch.bfloat16`."""
    return str(dtype).removeprefix("torch.")


def dtypes(values: Iterable[object]) -> str:
    """Count dtypes, as in `28 float32, 2 bfloat16`."""
    counts = Counter(map(short, values))
    return ", ".join(f"{number} {name}" for name, number in counts.most_common())


def parameters(tensors: Sequence[Parameter], noun: str) -> str:
    """List parameters: `28 trained parameters (28 bfloat16): a, b, c and 25 more`."""
    kinds = dtypes(parameter.dtype for parameter in tensors)
    names = short_list(parameter.name for parameter in tensors)
    return f"{plural(len(tensors), noun)} ({kinds}): {names}"


def precision_setting(facts: TrainingFacts, dtype: str) -> str:
    """Write the code that sets the precision, in the place where this training sets it."""
    fp16, bf16 = dtype == "float16", dtype == "bfloat16"
    if facts.args is not None:
        return f"{type(facts.args).__name__}(…, fp16={fp16}, bf16={bf16})"
    if facts.subject.accelerator is not None:
        return f'Accelerator(mixed_precision="{"fp16" if fp16 else "bf16" if bf16 else "no"}")'
    scaler = "  # and a torch.amp.GradScaler" if fp16 else ""
    return f'with torch.autocast("{facts.hardware.type}", torch.{dtype}): …{scaler}'


def gibibytes(sizes: Iterable[int]) -> str:
    """Add up bytes, as in `28.4 GiB`, or `0.2 MiB` where that is less than a tenth of one."""
    total = sum(sizes)
    if total < 2**30 / 10:
        return f"{total / 2**20:.1f} MiB"
    return f"{total / 2**30:.1f} GiB"
