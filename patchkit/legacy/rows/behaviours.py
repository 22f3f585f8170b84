"""Calls that give other results than they did, with the same arguments."""

from __future__ import annotations

from ..changes import Behaviour, Change, OtherResults
from ..converting.chat_templates import give_ids
from ..converting.heads import train_adapter_of_head
from ..converting.loading import give_dtype
from ..converting.pipelines import generate_from_texts

_V5 = "https://github.com/huggingface/transformers/blob/v5.0.0/MIGRATION_GUIDE_V5.md"

ROWS: tuple[Change, ...] = (
    Behaviour(
        owners=("trl.SFTTrainer",),
        name="an adapter on the head",
        around=train_adapter_of_head,
        gone="trl 1.15.0",
    ),
    Behaviour(
        owners=(
            "transformers.PreTrainedModel.from_pretrained",
            "transformers._BaseAutoModelClass.from_pretrained",
        ),
        name="dtype of a model that is loaded without one",
        around=give_dtype,
        silent=OtherResults(
            "loads the model in the dtype of its checkpoint, and no more in float32 (float16 for "
            "what is not quantized); write dtype= to choose",
            unless=("dtype", "torch_dtype"),
        ),
        gone="transformers 5.0.0",
        source=_V5,
    ),
    Behaviour(
        owners=("transformers.PreTrainedTokenizerBase.apply_chat_template",),
        name="type of what apply_chat_template returns",
        around=give_ids,
        silent=OtherResults(
            "gives a BatchEncoding, and no more the ids alone; write return_dict=False to have "
            "them",
            unless=("return_dict",),
            but={"tokenize": False},
        ),
        gone="transformers 5.0.0",
        source=_V5,
    ),
    Behaviour(
        owners=("transformers.pipeline",),
        name="tasks of models with an encoder",
        around=generate_from_texts,
        gone="transformers 5.0.0",
    ),
)
