"""What is known about other numbers with patchkit, so that a table can say why."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from patchkit.environment import in_range

from .records import FamilyCell


@dataclass(frozen=True)
class ExplainedDifference:
    """Why the numbers of some cells differ with patchkit.

    Args:
        figures: the figures that may differ.
        reason: why.
        modes: a glob of modes.
        types: a glob of model types.
        methods: a glob of methods.
        tasks: a glob of tasks.
        bitsandbytes: its releases; empty for all.
    """

    figures: frozenset[str]
    reason: str
    modes: str = "*"
    types: str = "*"
    methods: str = "*"
    tasks: str = "*"
    bitsandbytes: str = ""


_ALL_FIGURES = frozenset(
    {
        "logits to load",
        "distance to float32",
        "losses",
        "gradient norms",
        "logits to predict",
        "logits to reload",
        "distance after reload",
        "words",
        "logits to merge",
        "distance after merge",
    }
)
_SINCE_TRAINED = _ALL_FIGURES - {"logits to load", "distance to float32"}
_HEADS = (
    *("classification", "tokens", "questions", "images", "ctc", "reward", "audio", "video"),
    "choice",
)
"""Tasks whose head is trained beside adapters."""
EXPLANATIONS: tuple[ExplainedDifference, ...] = (
    ExplainedDifference(
        frozenset(
            {
                "losses",
                "gradient norms",
                "logits to predict",
                "logits to reload",
                "words",
                "logits to merge",
                "distance after merge",
            }
        ),
        "peft-quantized-output-dtype: the layers return bfloat16, as its caution says; PEFT does "
        "not ask about the autocast of a CPU",
        modes="bf16/4bit",
        methods="road",
    ),
    *(
        ExplainedDifference(
            _ALL_FIGURES,
            "transformers-packed-activations: without it the indexer's input is cast to bytes; "
            "with it the logits are nearer to those in float32",
            modes="*/4bit",
            types=types,
        )
        for types in ("dots3_note*", "glm5_next*", "hy_v4*")
    ),
    ExplainedDifference(
        _SINCE_TRAINED,
        "no patch: in training it takes seeds from the system, and two runs without patchkit have "
        "other numbers, too",
        types="reformer",
        methods="full",
    ),
    *(
        ExplainedDifference(
            _ALL_FIGURES | {"changed"},
            "transformers-packed-activations: without it the pixels are cast to bytes; with it the "
            "logits are nearer to those in float32",
            modes="*/4bit",
            types=types,
        )
        for types in ("cosmos3_edge", "kosmos-2.5", "lfm2_vl")
    ),
    *(
        ExplainedDifference(
            _ALL_FIGURES | {"changed"},
            "transformers-float32-parameters: parts of its attention are loaded in the dtype that "
            "was asked for, as all else is, and not in float32",
            types=types,
        )
        for types in ("deberta", "xlnet")
    ),
    ExplainedDifference(
        _ALL_FIGURES,
        "transformers-float32-attention: what is transformed in float32 is handed on in the dtype "
        "of the input, and the logits are nearer to those in float32; CUDA transforms no bfloat16",
        modes="fp16-of-bf16/none",
        types="fnet",
        methods="lora",
    ),
    *(
        ExplainedDifference(
            _ALL_FIGURES | {"changed"},
            "transformers-quantized-head: all layers of the head are loaded unpacked, and not only "
            "the last",
            modes="*/?bit",
            types=types,
            tasks=task,
        )
        for task, types in (
            ("questions", "modernbert"),
            ("questions", "splinter"),
            ("classification", "bart"),
            ("classification", "bigbird_pegasus"),
            ("classification", "flaubert"),
            ("classification", "mbart"),
            ("classification", "modernbert-decoder"),
            ("classification", "*t5"),
            ("classification", "mvp"),
            ("classification", "plbart"),
            ("classification", "xlm"),
            ("detection", "*detr"),
            ("detection", "yolos"),
        )
    ),
    ExplainedDifference(
        _ALL_FIGURES,
        "no patch: each time that it is loaded it gives other logits, without patchkit, too",
        modes="*/none",
        types="shieldgemma2",
    ),
    *(
        ExplainedDifference(
            _SINCE_TRAINED,
            "trl-adapter-bf16-cast: adapters are trained in float32, and not in bfloat16",
            modes=modes,
            methods="lora",
            tasks=task,
        )
        for modes in ("bf16/?bit", "plain-*/?bit")
        for task in ("reward", "dpo")
    ),
    *(
        ExplainedDifference(
            _SINCE_TRAINED,
            "peft-modules-to-save-dtype: the head is trained in float32, and not in half precision",
            modes=modes,
            methods="lora",
            tasks=task,
        )
        for modes in ("bf16/*", "plain-*")
        for task in _HEADS
    ),
    *(
        ExplainedDifference(
            _SINCE_TRAINED | {"changed"},
            "transformers-packed-bytes: adapters on layers that its head keeps in a list learn",
            modes="*/none",
            types=types,
            methods="lora",
            tasks="segments",
        )
        for types in ("mask2former", "maskformer", "oneformer")
    ),
    ExplainedDifference(
        frozenset({"logits to merge", "distance after merge"}),
        "peft-merge-quant-state: merged weights dequantize to half precision, as all others do, "
        "and on a CPU these releases of bitsandbytes round more on that way than by float32",
        modes="*/4bit",
        methods="lora",
        bitsandbytes=">=0.47,<0.49",
    ),
)


def explanation(
    cell: FamilyCell, figures: Collection[str], versions: Mapping[str, str | None]
) -> str:
    """Return why these figures of a cell differ; empty if that is not known.

    Args:
        cell: the cell.
        figures: the names of the figures.
        versions: those of the libraries that it was tried with.
    """
    bitsandbytes = versions.get("bitsandbytes") or "0"
    for known in EXPLANATIONS:
        if (
            known.figures.issuperset(figures)
            and fnmatchcase(cell.mode, known.modes)
            and fnmatchcase(cell.subject.type, known.types)
            and fnmatchcase(cell.method, known.methods)
            and fnmatchcase(cell.subject.task, known.tasks)
            and (not known.bitsandbytes or in_range(bitsandbytes, known.bitsandbytes))
        ):
            return known.reason
    return ""
