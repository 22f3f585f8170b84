"""The modes in which a model type is tried."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fnmatch import fnmatchcase

from patchkit.errors import UsageError

from .quantizers import QUANTIZERS, Quantizer

#: The methods that are tried by default: LoRA on all linear layers, and full fine-tuning.
DEFAULT_METHODS = ("lora", "full")


@dataclass(frozen=True)
class Precision:
    """What is loaded, and in which precision it is trained.

    Args:
        name: in the names of modes.
        checkpoint: the dtype of the checkpoint, by its torch name.
        autocast: the dtype of mixed precision; empty for none.
        compute: the dtype that 4-bit layers compute in.
        meaning: in words.
    """

    name: str
    checkpoint: str
    autocast: str
    compute: str
    meaning: str


PRECISIONS = (
    Precision("fp16-of-bf16", "bfloat16", "fp16", "float16", "fp16, of a bfloat16 checkpoint"),
    Precision("fp16", "float16", "fp16", "float16", "fp16, of a float16 checkpoint"),
    Precision("bf16", "bfloat16", "bf16", "bfloat16", "bf16, of a bfloat16 checkpoint"),
    Precision("plain-fp16", "float16", "", "float16", "a float16 checkpoint, without autocast"),
    Precision("plain-bf16", "bfloat16", "", "bfloat16", "a bfloat16 checkpoint, without autocast"),
)
QUANTIZATIONS = ("4bit", "8bit", "none")


@dataclass(frozen=True)
class Mode:
    """A precision with a quantization.

    Args:
        precision: what is loaded, and how it is trained.
        quantization: how bitsandbytes stores the linear layers: `4bit` (nf4), `8bit` or `none`; or
            the name of another quantizer.
    """

    precision: Precision
    quantization: str

    @property
    def name(self) -> str:
        return f"{self.precision.name}/{self.quantization}"

    @property
    def quantizer(self) -> Quantizer | None:
        """The quantizer, if it is another than bitsandbytes."""
        return QUANTIZERS.get(self.quantization)

    def allows(self, method: str) -> bool:
        """Tell whether a method can be tried: packed weights cannot be trained themselves."""
        plain = self.quantization == "none" or (self.quantizer is not None and self.quantizer.plain)
        return method != "full" or plain


ALL = tuple(Mode(*pair) for pair in itertools.product(PRECISIONS, QUANTIZATIONS))
#: Those of quantizers other than bitsandbytes.
OTHERS = tuple(Mode(*pair) for pair in itertools.product(PRECISIONS, QUANTIZERS))
_BY_NAME = {mode.name: mode for mode in (*ALL, *OTHERS)}
#: The modes that most people use.
QUICK = tuple(
    _BY_NAME[f"{precision}/{quantization}"]
    for precision in ("fp16-of-bf16", "bf16")
    for quantization in ("4bit", "none")
)
_SEVERAL = {
    "quick": QUICK,
    "all": ALL,
    "quantizers": tuple(mode for mode in OTHERS if mode.precision.autocast),
}


def find_mode(name: str) -> Mode:
    return _BY_NAME[name]


def select(globs: tuple[str, ...]) -> tuple[Mode, ...]:
    """Return the modes that any of the globs names, in their order; the quick ones for none.

    Args:
        globs: names or globs, such as `fp16*/4bit`; `quick`, `all` and `quantizers` are names of
            several. A glob that names a mode without a quantizer, or with bitsandbytes, names none
            of another quantizer.

    Raises:
        UsageError: a glob names no mode.
    """
    chosen: set[Mode] = set()
    for glob in globs or ("quick",):
        found = (
            _SEVERAL.get(glob)
            or [mode for mode in ALL if fnmatchcase(mode.name, glob)]
            or [mode for mode in OTHERS if fnmatchcase(mode.name, glob)]
        )
        if not found:
            names = ", ".join(mode.name for mode in ALL)
            raise UsageError(
                f"no mode {glob!r}; there are {names}, and with {', '.join(QUANTIZERS)} in the "
                "place of 4bit"
            )
        chosen.update(found)
    return tuple(mode for mode in (*ALL, *OTHERS) if mode in chosen)
