# A Trainer with methods of its own: optimizer, evaluation, prediction step, logs, saving and samplers.
import os
from typing import Dict, Optional

import torch
import torch.nn as nn
from datasets import load_dataset
from torch.utils.data import DataLoader, RandomSampler
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)
from transformers.trainer import TRAINING_ARGS_NAME, get_parameter_names, is_sagemaker_mp_enabled, logger
from transformers.trainer_pt_utils import nested_detach
from transformers.trainer_utils import EvalPrediction, has_length, seed_worker, speed_metrics

from transformers.pytorch_utils import ALL_LAYERNORM_LAYERS


class PrintCallback(TrainerCallback):
    def on_log(self, args, state, control, logs=None, model=None, tokenizer=None, **kwargs):
        print("LOG", state.global_step, sorted(logs), tokenizer.pad_token if tokenizer else None)

    def on_evaluate(self, args, state, control, metrics, **kwargs):
        print("EVAL", metrics["eval_loss"], kwargs["tokenizer"].pad_token)


class MyTrainer(Trainer):
    def create_optimizer(self):
        opt_model = self.model_wrapped if is_sagemaker_mp_enabled() else self.model
        if self.optimizer is None:
            decay = get_parameter_names(opt_model, ALL_LAYERNORM_LAYERS)
            decay = [name for name in decay if "bias" not in name]
            groups = [
                {
                    "params": [p for n, p in opt_model.named_parameters() if n in decay and p.requires_grad],
                    "weight_decay": self.args.weight_decay,
                },
                {
                    "params": [p for n, p in opt_model.named_parameters() if n not in decay and p.requires_grad],
                    "weight_decay": 0.0,
                },
            ]
            optimizer_cls, optimizer_kwargs = Trainer.get_optimizer_cls_and_kwargs(self.args)
            self.optimizer = optimizer_cls(groups, **optimizer_kwargs)
        return self.optimizer

    def _get_train_sampler(self) -> Optional[torch.utils.data.Sampler]:
        if self.train_dataset is None or not has_length(self.train_dataset):
            return None
        if self.args.group_by_length:
            raise ValueError("no")
        return RandomSampler(self.train_dataset)

    def get_eval_dataloader(self, eval_dataset=None):
        eval_dataset = eval_dataset if eval_dataset is not None else self.eval_dataset
        return DataLoader(
            self._remove_unused_columns(eval_dataset, description="evaluation"),
            batch_size=self.args.eval_batch_size,
            collate_fn=self.data_collator,
            worker_init_fn=seed_worker if self.args.dataloader_num_workers else None,
        )

    def training_step(self, model: nn.Module, inputs) -> torch.Tensor:
        model.train()
        inputs = self._prepare_inputs(inputs)
        with self.compute_loss_context_manager():
            loss = self.compute_loss(model, inputs)
        if self.args.n_gpu > 1:
            loss = loss.mean()
        if self.use_apex:
            raise ValueError("apex")
        else:
            self.accelerator.backward(loss)
        return loss.detach() / self.args.gradient_accumulation_steps

    def compute_loss(self, model, inputs, return_outputs=False):
        if self.label_smoother is not None and "labels" in inputs:
            labels = inputs.pop("labels")
        else:
            labels = None
        outputs = model(**inputs)
        if self.args.past_index >= 0:
            self._past = outputs[self.args.past_index]
        loss = self.label_smoother(outputs, labels, shift_labels=True) if labels is not None else outputs["loss"]
        return (loss, outputs) if return_outputs else loss

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad():
            loss, outputs = self.compute_loss(model, inputs, return_outputs=True)
        if prediction_loss_only:
            return (loss.detach(), None, None)
        logits = nested_detach(outputs["logits"].argmax(-1))
        return (loss.detach(), logits, inputs["labels"])

    def log(self, logs: Dict[str, float]) -> None:
        logs["extra"] = 1.0
        super().log(logs)

    def evaluate(self, eval_dataset=None, ignore_keys=None, metric_key_prefix="eval"):
        return super().evaluate(eval_dataset, ignore_keys=ignore_keys, metric_key_prefix=metric_key_prefix)

    def _save_checkpoint(self, model, trial, metrics=None):
        super()._save_checkpoint(model, trial, metrics=metrics)

    def _save(self, output_dir: Optional[str] = None, state_dict=None):
        output_dir = output_dir if output_dir is not None else self.args.output_dir
        os.makedirs(output_dir, exist_ok=True)
        self.model.save_pretrained(
            output_dir, state_dict=state_dict, safe_serialization=self.args.save_safetensors
        )
        if self.tokenizer is not None:
            self.tokenizer.save_pretrained(output_dir)
        torch.save(self.args, os.path.join(output_dir, TRAINING_ARGS_NAME))
        logger.info("saved")


def compute_metrics(p: EvalPrediction):
    return {"accuracy": float((p.predictions[:, :-1] == p.label_ids[:, 1:]).mean())}


def preprocess_logits_for_metrics(logits, labels):
    return logits


tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")
dataset = load_dataset("imdb")
dataset = dataset.map(
    lambda rows: tokenizer(rows["text"], truncation=True, max_length=32, padding="max_length"),
    batched=True,
    remove_columns=["text", "label"],
)
trainer = MyTrainer(
    model=model,
    args=TrainingArguments(
        output_dir="own",
        evaluation_strategy="steps",
        eval_steps=2,
        save_strategy="steps",
        save_steps=2,
        save_safetensors=False,
        per_device_train_batch_size=4,
        per_device_eval_batch_size=4,
        gradient_accumulation_steps=2,
        max_steps=3,
        logging_steps=1,
        label_smoothing_factor=0.0,
        weight_decay=0.1,
        warmup_ratio=0.1,
        report_to="none",
        include_inputs_for_metrics=False,
    ),
    train_dataset=dataset["train"],
    eval_dataset=dataset["test"].select(range(8)),
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
    tokenizer=tokenizer,
    compute_metrics=compute_metrics,
    preprocess_logits_for_metrics=preprocess_logits_for_metrics,
    callbacks=[PrintCallback()],
)
trainer.train()
