"""Methods of trainers that scripts override, and that are called otherwise or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from ..changes import (
    Adjusted,
    Behaviour,
    Change,
    Copied,
    Drop,
    Keyword,
    Parameters,
    Rename,
    Uncalled,
)
from ..converting.adjusting import copies, own_methods
from ..converting.adjusting.own_methods import create_both, never_called

_TRAINER = ("transformers.Trainer",)
_SAVE = ("transformers.Trainer._save_checkpoint",)
_MEAN = "self.model_accepts_loss_kwargs = self.loss_is_scaled_for_ga = False"
"""A loss of a script's own is the mean of a batch, which is to be divided by their number."""
_METHODS = {
    "4.46.0": (
        Parameters(
            "compute_loss",
            ("num_items_in_batch=None",),
            _MEAN,
            after=("model", "inputs", "return_outputs"),
            attribute=("transformers 5.19.0", "loss_is_scaled_for_ga = False"),
        ),
        Parameters("training_step", ("num_items_in_batch=None",), after=("model", "inputs")),
    ),
    "4.47.0": (Parameters("log", ("start_time=None",), after=("logs",)),),
    "4.52.0": (Parameters("_get_train_sampler", ("train_dataset=None",)),),
    "5.3.0": (Parameters("create_optimizer", ("model=None",)),),
}
"""Methods that have got parameters, by the release with the last of them."""

_OWN_LOSS = "Override compute_loss instead."
_OWN_ROWS = "Tokenize the dataset before the trainer gets it, or override _prepare_dataset."
_PREFERENCES = "Override compute_loss, or set the loss by loss_type= in the configuration."
_UNCALLED = (
    (
        "transformers.Trainer",
        "transformers 5.2.0",
        "Override _save_checkpoint.",
        ("_rotate_checkpoints",),
    ),
    (
        "trl.DPOTrainer",
        "trl 0.29.0",
        _PREFERENCES,
        (
            *("concatenated_forward", "concatenated_inputs", "dpo_loss"),
            *("get_batch_loss_metrics", "get_batch_metrics", "store_metrics"),
        ),
    ),
    ("trl.DPOTrainer", "trl 0.29.0", _OWN_ROWS, ("process_row", "tokenize_row")),
    ("trl.DPOTrainer", "trl 0.14.0", _OWN_ROWS, ("build_tokenized_answer",)),
    ("trl.DPOTrainer", "trl 0.14.0", _PREFERENCES, ("get_batch_logps",)),
    ("trl.KTOTrainer", "trl 1.5.0", _OWN_LOSS, ("get_batch_loss_metrics",)),
    ("trl.KTOTrainer", "trl 1.6.0", _OWN_LOSS, ("forward", "kto_loss")),
    (
        "trl.SFTTrainer",
        "trl 0.14.0",
        _OWN_ROWS,
        ("_prepare_non_packed_dataloader", "_prepare_packed_dataloader"),
    ),
    (
        "trl.GRPOTrainer",
        "trl 0.20.0",
        "Override _get_per_token_logps_and_entropies.",
        ("_get_per_token_logps",),
    ),
    (
        "trl.GRPOTrainer",
        "trl 0.28.0",
        "VLLMGeneration.sync_weights does it.",
        ("_move_model_to_vllm",),
    ),
)
"""Methods that no trainer calls any more: whose, since when, and what to do."""

_COPIED = (
    ("4.48.0", Copied("position_embeddings", came=True)),
    ("4.56.0", Copied("past_key_value")),
    ("5.0.0", Copied("head_mask")),
    ("5.0.0", Copied("layer_head_mask")),
)
"""Parameters that layers got or lost, of which copies are known, by the release."""


def _rows() -> Iterator[Change]:
    for release, copied in _COPIED:
        yield Adjusted(
            owners=_TRAINER,
            name=f"copies of layers and {copied.parameter}",
            adjust=copies.copied_layers(copied),
            in_source=None if copied.came else copied,  # a script does not show today's layer
            gone=f"transformers {release}",
        )
    for release, methods in _METHODS.items():
        for method in methods:
            yield Adjusted(
                owners=_TRAINER,
                name=method.method,
                adjust=own_methods.former_parameters,
                in_source=method,
                gone=f"transformers {release}",
            )
    for owner, release, instead, uncalled in _UNCALLED:
        for name in uncalled:
            uncalled_method = Uncalled(name, instead)
            yield Adjusted(
                owners=(owner,),
                name=name,
                adjust=never_called(uncalled_method),
                in_source=uncalled_method,
                gone=release,
            )


ROWS: tuple[Change, ...] = (
    *_rows(),
    Adjusted(
        owners=_TRAINER,
        name="copies of constructors",
        adjust=copies.copied_constructor,
        gone="trl 0.8.0",
    ),
    Adjusted(
        owners=_TRAINER,
        name="_maybe_log_save_evaluate",
        adjust=own_methods.without_start,
        gone="transformers 4.47.0",
    ),
    Adjusted(
        owners=_TRAINER,
        name="_save_checkpoint",
        adjust=own_methods.metrics_of_checkpoints,
        gone="transformers 4.47.0",
    ),
    Adjusted(
        owners=_SAVE,
        name="metrics by position",
        adjust=own_methods.by_position,
        gone="transformers 4.47.0",
    ),
    Keyword(
        owners=_SAVE,
        name="metrics",
        action=Drop("metrics are taken from the state"),
        gone="transformers 4.47.0",
    ),
    Behaviour(
        owners=("transformers.Trainer._prepare_for_training",),
        name="create_optimizer_and_scheduler",
        around=create_both,
        gone="transformers 5.1.0",
    ),
    Keyword(
        owners=("transformers.Trainer.train",),
        name="model_path",
        action=Rename("resume_from_checkpoint"),
        gone="transformers 5.0.0",
        since="transformers 4.36.0",
    ),
)
