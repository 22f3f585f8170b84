"""Calls that give other results than they did, with the same arguments."""

from __future__ import annotations

from ..changes import Behaviour, Change, OtherResults
from ..converting.chat_templates import give_ids
from ..converting.collating import mask_labels
from ..converting.configuration import number_rank
from ..converting.device_maps import remember_device
from ..converting.feature_extractors import process_images
from ..converting.generation import keep_lengths, no_last_evaluation, with_own_settings
from ..converting.heads import train_adapter_of_head
from ..converting.loading import give_dtype
from ..converting.pipelines import generate_from_texts
from ..converting.tokenizing import decode_each

_V5 = "https://github.com/huggingface/transformers/blob/v5.0.0/MIGRATION_GUIDE_V5.md"

ROWS: tuple[Change, ...] = (
    Behaviour(
        owners=("trl.SFTTrainer",),
        name="an adapter on the head",
        around=train_adapter_of_head,
        gone="trl 1.15.0",
    ),
    Behaviour(
        owners=("trl.DataCollatorForLanguageModeling.torch_call",),
        name="masks and lengths of rows",
        around=mask_labels,
        gone="trl 1.7.0",
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
        owners=(
            "transformers.Seq2SeqTrainingArguments",
            "transformers.Seq2SeqTrainer.prediction_step",
        ),
        name="length of generated predictions",
        around=keep_lengths,
        silent=OtherResults(
            "evaluates a model without a length of its own so that all batches but the first "
            "generate a token less, and fills their predictions up with -100, which "
            "batch_decode() does not take; write generation_max_length=, or "
            "np.where(predictions != -100, predictions, tokenizer.pad_token_id)",
            unless=("generation_max_length", "generation_config"),
            only={"predict_with_generate": True},
        ),
        gone="transformers 5.0.0",
    ),
    Behaviour(
        owners=("transformers.TrainingArguments", "transformers.DefaultFlowCallback.on_step_end"),
        name="evaluation after the last step",
        around=no_last_evaluation,
        silent=OtherResults(
            "evaluates after the last step, too, whatever eval_steps is",
            only={"eval_strategy": "steps", "evaluation_strategy": "steps"},
        ),
        gone="transformers 5.4.0",
    ),
    Behaviour(
        owners=(
            "transformers.GenerationMixin.generate",
            "transformers.PreTrainedModel.save_pretrained",
            "transformers.PreTrainedConfig.save_pretrained",
        ),
        name="settings of generate in a model's configuration",
        around=with_own_settings,
        gone="transformers 5.0.0",
        source=_V5,
    ),
    Behaviour(
        owners=(
            "transformers.PreTrainedModel.from_pretrained",
            "transformers._BaseAutoModelClass.from_pretrained",
        ),
        name="hf_device_map of a model on one device",
        around=remember_device,
        gone="transformers 5.0.0",
        source=_V5,
    ),
    Behaviour(
        owners=("transformers.AutoFeatureExtractor.from_pretrained",),
        name="feature extractors of models for images",
        around=process_images,
        gone="transformers 5.0.0",
        source=_V5,
    ),
    Behaviour(
        owners=("transformers.TrainingArguments",),
        name="number of the process",
        around=number_rank,
        gone="transformers 5.0.0",
    ),
    Behaviour(
        owners=("transformers.PreTrainedTokenizerBase.batch_decode",),
        name="ids of one sequence",
        around=decode_each,
        gone="transformers 5.0.0",
    ),
    Behaviour(
        owners=("transformers.pipeline",),
        name="tasks of models with an encoder",
        around=generate_from_texts,
        gone="transformers 5.0.0",
    ),
)
