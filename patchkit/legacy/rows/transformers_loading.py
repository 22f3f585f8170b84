"""Keywords of `from_pretrained`, and of `load_dataset`."""

from __future__ import annotations

from collections.abc import Iterator

from ..changes import Action, Change, Convert, Converter, Drop, Keyword, Rename
from ..converting import loading
from ..sources import notes

_V5 = "https://github.com/huggingface/transformers/blob/main/MIGRATION_GUIDE_V5.md"
_DATASETS_3 = "https://github.com/huggingface/datasets/releases/tag/3.0.0"

_MODELS = (
    "transformers._BaseAutoModelClass.from_pretrained",
    "transformers.PreTrainedModel.from_pretrained",
)
_ALL = (
    *_MODELS,
    "transformers.AutoConfig.from_pretrained",
    "transformers.AutoProcessor.from_pretrained",
    "transformers.AutoTokenizer.from_pretrained",
    "transformers.PreTrainedConfig.from_pretrained",
    "transformers.PreTrainedTokenizerBase.from_pretrained",
    "transformers.ProcessorMixin.from_pretrained",
)
_BUILDER = ("datasets.DatasetBuilder",)

_TOKEN = Rename("token")


def _quantized(switch: str, convert: Converter) -> Convert:
    written = f"{{transformers.BitsAndBytesConfig}}({switch}=True) if {{value}} else None"
    return Convert("quantization_config", convert, written=written)


_ACTIONS: tuple[tuple[tuple[str, ...], dict[str, Action], str, str, str], ...] = (
    (
        _MODELS,
        {
            "load_in_4bit": _quantized("load_in_4bit", loading.in_4bit),
            "load_in_8bit": _quantized("load_in_8bit", loading.in_8bit),
        },
        "transformers 5.0.0",
        "transformers 4.36.0",
        _V5,
    ),
    (
        _MODELS,
        {
            "use_flash_attention_2": Convert(
                "attn_implementation",
                loading.flash_attention,
                written='"flash_attention_2" if {value} else None',
            ),
        },
        "transformers 4.53.0",
        "transformers 4.36.2",
        notes("transformers 4.53.0"),
    ),
    (
        _MODELS,
        {"resume_download": Drop("a download that was interrupted is always resumed")},
        "transformers 5.0.0",
        "",
        _V5,
    ),
    (
        _MODELS,
        {"torch_dtype": Rename("dtype")},
        "transformers",
        "transformers 4.56.0",
        notes("transformers 4.56.0"),
    ),
    (_ALL, {"use_auth_token": _TOKEN}, "transformers 5.0.0", "transformers 4.32.0", _V5),
    (
        _BUILDER,
        {"use_auth_token": _TOKEN},
        "datasets 3.0.0",
        "datasets 2.14.0",
        _DATASETS_3,
    ),
)


def _rows() -> Iterator[Change]:
    for owners, actions, gone, since, source in _ACTIONS:
        for name, action in actions.items():
            yield Keyword(
                owners=owners, name=name, action=action, gone=gone, since=since, source=source
            )


ROWS: tuple[Change, ...] = tuple(_rows())
