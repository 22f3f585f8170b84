"""What methods of Transformers do otherwise than they did."""

from __future__ import annotations

from ..changes import Behaviour, Change, Silent
from ..converting.chat_templates import give_ids
from ..converting.loading import give_dtype

_5_0 = "https://github.com/huggingface/transformers/blob/v5.0.0/MIGRATION_GUIDE_V5.md"

ROWS: tuple[Change, ...] = (
    Behaviour(
        owners=(
            "transformers.PreTrainedModel.from_pretrained",
            "transformers._BaseAutoModelClass.from_pretrained",
        ),
        name="dtype of a model that is loaded without one",
        around=give_dtype,
        silent=Silent(
            "loads the model in the dtype of its checkpoint, and no more in float32 (float16 for "
            "what is not quantized); write dtype= to choose",
            unless=("dtype", "torch_dtype"),
        ),
        gone="transformers 5.0.0",
        source=_5_0,
    ),
    Behaviour(
        owners=("transformers.PreTrainedTokenizerBase.apply_chat_template",),
        name="type of what apply_chat_template returns",
        around=give_ids,
        silent=Silent(
            "gives a BatchEncoding, and no more the ids alone; write return_dict=False to have "
            "them",
            unless=("return_dict",),
            but={"tokenize": False},
        ),
        gone="transformers 5.0.0",
        source=_5_0,
    ),
)
