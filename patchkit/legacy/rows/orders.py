"""Orders of positional arguments."""

from __future__ import annotations

from ..changes import Change, Order

_DPO_0_7_5 = (
    "model ref_model beta label_smoothing loss_type args data_collator label_pad_token_id "
    "padding_value truncation_mode train_dataset eval_dataset tokenizer model_init callbacks "
    "optimizers preprocess_logits_for_metrics max_length max_prompt_length max_target_length "
    "peft_config"
)
_DPO_0_7_3 = _DPO_0_7_5.replace(" label_smoothing", "")
_DPO_0_7_0 = _DPO_0_7_3.replace(" loss_type", "").replace(" max_target_length", "")
_HEAD = "model args data_collator train_dataset eval_dataset tokenizer model_init compute_metrics "
_TAIL = "callbacks optimizers preprocess_logits_for_metrics "
_SFT = (
    f"{_HEAD}{_TAIL}peft_config dataset_text_field packing formatting_func max_seq_length infinite "
    "num_of_sequences chars_per_token dataset_num_proc dataset_batch_size neftune_noise_alpha "
    "model_init_kwargs dataset_kwargs eval_packing"
)
_KTO = (
    "model ref_model args train_dataset eval_dataset tokenizer data_collator model_init "
    f"{_TAIL}peft_config compute_metrics"
)
_ONLINE_0_11 = (
    "model ref_model reward_model judge args data_collator train_dataset eval_dataset tokenizer "
    f"peft_config compute_metrics {_TAIL}"
)
_RLOO = (
    "config tokenizer policy ref_policy reward_model train_dataset data_collator eval_dataset "
    "optimizers callbacks"
)

_PLAIN = "model args data_collator train_dataset eval_dataset processing_class"
_ONLINE = "data_collator train_dataset eval_dataset processing_class"
_TODAY = {
    "DPOTrainer": f"model ref_model args {_ONLINE}",
    "KTOTrainer": f"model ref_model args {_ONLINE}",
    "OnlineDPOTrainer": f"model ref_model reward_funcs args {_ONLINE}",
    "RLOOTrainer": "model reward_funcs args train_dataset eval_dataset processing_class",
    "RewardTrainer": _PLAIN,
    "SFTTrainer": _PLAIN,
}

ROWS: tuple[Change, ...] = tuple(
    Order(
        owners=(f"trl.{owner}",),
        order=tuple(order.split()),
        today=tuple(_TODAY[owner].split()),
        gone=f"trl {gone}",
        since=f"trl {gone}",
    )
    for owner, gone, order in (
        ("DPOTrainer", "0.13.0", _DPO_0_7_5),
        ("DPOTrainer", "0.7.5", _DPO_0_7_3),
        ("DPOTrainer", "0.7.3", _DPO_0_7_0),
        ("SFTTrainer", "0.13.0", _SFT),
        ("RewardTrainer", "0.14.0", f"{_HEAD}{_TAIL}max_length peft_config"),
        ("KTOTrainer", "1.8.0", _KTO),
        ("OnlineDPOTrainer", "1.1.0", _ONLINE_0_11),
        ("RLOOTrainer", "0.25.0", _RLOO),
    )
)
