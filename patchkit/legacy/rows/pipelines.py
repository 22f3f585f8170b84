"""Tasks of `transformers.pipeline`."""

from __future__ import annotations

from ..changes import Behaviour, Change, Value
from ..converting.pipelines import generate_from_texts

_PIPELINE = ("transformers.pipeline",)
_REFUSED = {
    "question-answering": "Read start_logits and end_logits of the model.",
    "visual-question-answering": "Write image-text-to-text, with a model that chats about images.",
    "vqa": "Write image-text-to-text, with a model that chats about images.",
    "image-to-image": "Diffusers makes images of images.",
}

ROWS: tuple[Change, ...] = (
    Behaviour(
        owners=_PIPELINE,
        name="tasks of models with an encoder",
        around=generate_from_texts,
        gone="transformers 5.0.0",
    ),
    *(
        Value(
            owners=_PIPELINE,
            name="task",
            value=task,
            instead=instead,
            gone="transformers 5.3.0",
        )
        for task, instead in _REFUSED.items()
    ),
)
