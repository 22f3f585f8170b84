"""What `apply_chat_template` gives, where the source of a script does not show how it is read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..changes import Adjusted, Attribute, Change
from ..converting.chat_templates import attribute_of_ids, given_ids, pass_ids
from ..converting.read_as_ids import OF_IDS

_GONE = "transformers 5.0.0"
_SOURCE = "https://github.com/huggingface/transformers/blob/v5.0.0/MIGRATION_GUIDE_V5.md"
_TAKING = (
    "transformers.GenerationMixin.generate",
    "transformers.PreTrainedTokenizerBase.batch_decode",
    "transformers.PreTrainedTokenizerBase.decode",
)


def _rows() -> Iterator[Change]:
    for name in OF_IDS:
        yield Attribute(
            owners=("transformers.BatchEncoding",),
            name=name,
            read=partial(attribute_of_ids, name=name),
            advice="write return_dict=False in apply_chat_template()",
            gone=_GONE,
            source=_SOURCE,
        )
    yield Adjusted(
        owners=_TAKING,
        name="what chat templates give",
        adjust=pass_ids,
        concerns=given_ids,
        gone=_GONE,
        source=_SOURCE,
    )


ROWS: tuple[Change, ...] = tuple(_rows())
