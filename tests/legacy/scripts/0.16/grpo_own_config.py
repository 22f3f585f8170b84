# Own configurations for GRPO, TrlParser and a registry of rewards.
import logging
import os
import sys
from dataclasses import dataclass, field
from typing import Optional

import datasets
import torch
import transformers
from datasets import load_dataset
from transformers import set_seed
from transformers.trainer_utils import get_last_checkpoint

import trl
from trl import GRPOTrainer, ModelConfig, ScriptArguments, TrlParser, get_peft_config

logger = logging.getLogger(__name__)


@dataclass
class GRPOConfig(trl.GRPOConfig):
    benchmarks: list[str] = field(default_factory=lambda: [], metadata={"help": "benchmarks"})
    callbacks: list[str] = field(default_factory=lambda: [], metadata={"help": "callbacks"})
    chat_template: Optional[str] = field(default=None, metadata={"help": "template"})
    system_prompt: Optional[str] = field(default=None, metadata={"help": "system prompt"})
    hub_model_revision: Optional[str] = field(default="main", metadata={"help": "branch"})
    overwrite_hub_revision: bool = field(default=False, metadata={"help": "overwrite"})
    push_to_hub_revision: bool = field(default=False, metadata={"help": "push"})
    wandb_entity: Optional[str] = field(default=None, metadata={"help": "entity"})


@dataclass
class GRPOScriptArguments(ScriptArguments):
    reward_funcs: list[str] = field(default_factory=lambda: ["format", "length"], metadata={"help": "rewards"})
    cosine_min_value_wrong: float = field(default=0.0, metadata={"help": "x"})
    dataset_prompt_column: str = field(default="prompt", metadata={"help": "col"})


def format_reward(completions, **kwargs):
    return [1.0 if "<think>" in c[0]["content"] else 0.0 for c in completions]


def len_reward(completions: list[dict[str, str]], solution: list[str], **kwargs) -> float:
    return [min(len(set(c[0]["content"])), 40) / 40 for c in completions]


REWARDS = {"format": format_reward, "length": len_reward}


def main(script_args, training_args, model_args):
    set_seed(training_args.seed)
    logging.basicConfig(format="%(asctime)s - %(message)s", handlers=[logging.StreamHandler(sys.stdout)])
    log_level = training_args.get_process_log_level()
    logger.setLevel(log_level)
    datasets.utils.logging.set_verbosity(log_level)
    transformers.utils.logging.set_verbosity(log_level)
    transformers.utils.logging.enable_default_handler()
    transformers.utils.logging.enable_explicit_format()
    logger.warning(
        f"Process rank: {training_args.local_rank}, device: {training_args.device}, n_gpu: {training_args.n_gpu}"
        + f" distributed training: {bool(training_args.local_rank != -1)}, 16-bits training: {training_args.fp16}"
    )
    last_checkpoint = None
    if os.path.isdir(training_args.output_dir):
        last_checkpoint = get_last_checkpoint(training_args.output_dir)
    if "wandb" in training_args.report_to:
        os.environ["WANDB_ENTITY"] = "x"

    dataset = load_dataset(script_args.dataset_name, name=script_args.dataset_config)
    reward_funcs = [REWARDS[func] for func in script_args.reward_funcs]

    def make_conversation(example):
        prompt = []
        if training_args.system_prompt is not None:
            prompt.append({"role": "system", "content": training_args.system_prompt})
        prompt.append({"role": "user", "content": example["question"]})
        return {"prompt": prompt, "solution": example["answer"]}

    dataset = dataset.map(make_conversation)
    for split in dataset:
        if "messages" in dataset[split].column_names:
            dataset[split] = dataset[split].remove_columns("messages")

    torch_dtype = (
        model_args.torch_dtype if model_args.torch_dtype in ["auto", None] else getattr(torch, model_args.torch_dtype)
    )
    model_kwargs = dict(
        revision=model_args.model_revision,
        trust_remote_code=model_args.trust_remote_code,
        attn_implementation=model_args.attn_implementation,
        torch_dtype=torch_dtype,
        use_cache=False if training_args.gradient_checkpointing else True,
    )
    training_args.model_init_kwargs = model_kwargs
    trainer = GRPOTrainer(
        model=model_args.model_name_or_path,
        reward_funcs=reward_funcs,
        args=training_args,
        train_dataset=dataset[script_args.dataset_train_split],
        eval_dataset=dataset[script_args.dataset_test_split] if training_args.eval_strategy != "no" else None,
        peft_config=get_peft_config(model_args),
        callbacks=[],
    )
    checkpoint = None
    if training_args.resume_from_checkpoint is not None:
        checkpoint = training_args.resume_from_checkpoint
    elif last_checkpoint is not None:
        checkpoint = last_checkpoint
    train_result = trainer.train(resume_from_checkpoint=checkpoint)
    metrics = train_result.metrics
    metrics["train_samples"] = len(dataset[script_args.dataset_train_split])
    trainer.log_metrics("train", metrics)
    trainer.save_metrics("train", metrics)
    trainer.save_state()
    trainer.save_model(training_args.output_dir)
    kwargs = {"dataset_name": script_args.dataset_name, "tags": ["open-r1"]}
    if trainer.accelerator.is_main_process:
        trainer.create_model_card(**kwargs)
        trainer.model.config.use_cache = True
        trainer.model.config.save_pretrained(training_args.output_dir)


if __name__ == "__main__":
    parser = TrlParser((GRPOScriptArguments, GRPOConfig, ModelConfig))
    script_args, training_args, model_args = parser.parse_args_and_config()
    main(script_args, training_args, model_args)
