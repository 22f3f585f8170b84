"""What is known about failures, so that a table can say why."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from ..sweep.trial import Trial
from .records import Build, FamilyCell


@dataclass(frozen=True)
class Reason:
    """Why some cells fail with patchkit and without.

    Args:
        error: a part of the error, after the name of the step.
        reason: why, and whose matter it is.
        modes: a glob of modes.
        types: a glob of model types.
        methods: a glob of methods.
    """

    error: str
    reason: str
    modes: str = "*"
    types: str = "*"
    methods: str = "*"


_NO_SUCH_LAYER = "PEFT has no layer of this method for packed weights"
_UNPACKED_METHODS = (
    "loha",
    "lokr",
    "hra",
    "c3a",
    "fourierft",
    "waveft",
    "gralora",
    "vblora",
    "delora",
)
REASONS: tuple[Reason, ...] = (
    Reason("The required package 'scipy' is not installed", "scipy was not installed"),
    Reason("task_ids should not be None", "Poly wants to be told the task of each row"),
    Reason("Please initialize PiSSA under", "PEFT splits no packed weights"),
    Reason("Cannot merge ia3 layers", "PEFT refuses"),
    Reason(
        "'tuple' object has no attribute 'dtype'",
        "`all-linear` puts LoRA on a router, which returns a tuple",
    ),
    Reason(
        "Unrecognized configuration class",
        "saved is the configuration of the text part, which this class does not load",
    ),
    Reason("is incompatible with Mamba-based models", "PEFT refuses what its `all-linear` names"),
    *(
        Reason("", _NO_SUCH_LAYER, modes=modes, methods=method)
        for method in _UNPACKED_METHODS
        for modes in ("*/4bit", "*/8bit")
    ),
    Reason("merge: NotImplementedError", "PEFT merges no such layer", methods="adalora"),
    Reason(
        "reload: OtherLogits",
        "float16 holds no number as small as AdamW's epsilon, so weights without gradients become "
        "0/0; nothing is wrong with what was saved",
        modes="plain-fp16/none",
        methods="full",
    ),
    Reason(
        "only Tensors of floating point dtype can require gradients",
        "Transformers packs the head as well, and PEFT cannot train it then; name it in "
        "`llm_int8_skip_modules`",
    ),
    Reason(
        "without overflow",
        "it masks with a number that half precision does not hold",
    ),
    Reason(
        "modules_to_save cannot be applied to modules of type",
        "PEFT takes the same layer for LoRA and for a head",
        types="distilbert",
    ),
    Reason(
        "expect parameter to have scalar type of Float",
        "its Fourier transforms return float32, which a bfloat16 norm of a CPU refuses",
        types="fnet",
    ),
    Reason(
        "RuntimeError: Unsupported dtype",
        "PyTorch's Fourier transforms take no half precision on a CPU",
        types="fnet",
    ),
    Reason(
        "backward: RuntimeError: expected m1 and m2 to have the same dtype",
        "its attention has a backward of its own, which multiplies float32 by float16",
        types="yoso",
    ),
    Reason(
        "mat1 and mat2 must have the same dtype",
        "its attention computes in float32 and gives that to the next layer",
        types="mra",
    ),
    Reason("position_ids` are incorrect", "its decoder refuses the positions of `generate`"),
    Reason(
        "merge: OtherLogits",
        "rounding the merged weights to 4 bits again moves the logits by more than half their size",
        modes="*/4bit",
    ),
    Reason(
        "forward: RuntimeError: The size of tensor a",
        "`all-linear` puts LoRA on `o_a_proj`, which multiplies groups of its input one by one",
        types="deepseek_v4",
    ),
)
#: Why there is no tiny model of some types.
_DRAFTS = "it drafts for another model, whose keys and values it is fed"
_TIMM = "it needs timm and pillow, which were not installed"
UNBUILT: tuple[Reason, ...] = (
    Reason("requires the timm library", _TIMM),
    Reason("requires the PIL library", _TIMM),
    Reason("requires the detectron2 library", "it needs detectron2, which was not installed"),
    Reason("No module named 'scipy'", "it needs scipy, which was not installed"),
    Reason("", _DRAFTS, types="gemma4*_assistant"),
    Reason(
        "object has no attribute 'dropout'",
        "the class for language models reads what only the decoder's configuration has",
        types="musicgen*",
    ),
    Reason(
        "modified by an inplace operation",
        "its own kernels in PyTorch change what their backward pass needs",
        types="xlstm",
    ),
    Reason("Unrecognized configuration class", "Transformers lists it, and has no class for it"),
    Reason("", "it is fed actions of a robot", types="pi0"),
    Reason("input_features or encoder_inputs_embeds", "it is fed sound"),
    Reason("", "its training computes no loss of its own", types="diffusion_gemma"),
)


def reason(cell: FamilyCell, trial: Trial) -> str:
    """Return why a trial of a cell fails; empty if that is not known."""
    error = f"{trial.step}: {trial.error}"
    return next(
        (
            known.reason
            for known in REASONS
            if known.error in error
            and fnmatchcase(cell.mode, known.modes)
            and fnmatchcase(cell.subject.type, known.types)
            and fnmatchcase(cell.method, known.methods)
        ),
        "",
    )


def reason_unbuilt(build: Build) -> str:
    """Return why there is no tiny model of a type; empty if that is not known."""
    return next(
        (
            known.reason
            for known in UNBUILT
            if known.error in build.error and fnmatchcase(build.subject.type, known.types)
        ),
        "",
    )
