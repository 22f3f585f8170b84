"""SFT and GRPO in the shape of open-r1's scripts, of early 2025.

python open_r1.py grpo --config recipe.yaml
"""

import sys
from dataclasses import dataclass, field

import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed
from trl import (
    GRPOConfig,
    GRPOTrainer,
    ModelConfig,
    ScriptArguments,
    SFTConfig,
    SFTTrainer,
    TrlParser,
    get_kbit_device_map,
    get_peft_config,
    get_quantization_config,
)


@dataclass
class R1SFTConfig(SFTConfig):
    benchmarks: list[str] = field(default_factory=list)
    callbacks: list[str] = field(default_factory=list)
    system_prompt: str | None = None
    overwrite_hub_revision: bool = False


@dataclass
class R1GRPOConfig(GRPOConfig):
    benchmarks: list[str] = field(default_factory=list)
    callbacks: list[str] = field(default_factory=list)
    system_prompt: str | None = None
    overwrite_hub_revision: bool = False


@dataclass
class R1ScriptArguments(ScriptArguments):
    reward_funcs: list[str] = field(default_factory=lambda: ["length"])


def length(completions, **kwargs):
    return [float(len(completion[0]["content"])) for completion in completions]


def load_model(model_args, training_args):
    torch_dtype = model_args.torch_dtype
    if torch_dtype not in ("auto", None):
        torch_dtype = getattr(torch, torch_dtype)
    quantization_config = get_quantization_config(model_args)
    return AutoModelForCausalLM.from_pretrained(
        model_args.model_name_or_path,
        revision=model_args.model_revision,
        trust_remote_code=model_args.trust_remote_code,
        torch_dtype=torch_dtype,
        use_cache=not training_args.gradient_checkpointing,
        device_map=get_kbit_device_map() if quantization_config is not None else None,
        quantization_config=quantization_config,
    )


def run(config, trainer_class, **options):
    parser = TrlParser((R1ScriptArguments, config, ModelConfig))
    script_args, training_args, model_args = parser.parse_args_and_config()
    set_seed(training_args.seed)
    dataset = load_dataset(script_args.dataset_name, name=script_args.dataset_config)
    tokenizer = AutoTokenizer.from_pretrained(model_args.model_name_or_path)
    trainer = trainer_class(
        model=load_model(model_args, training_args),
        args=training_args,
        train_dataset=dataset[script_args.dataset_train_split],
        eval_dataset=None,
        peft_config=get_peft_config(model_args),
        processing_class=tokenizer,
        **options,
    )
    result = trainer.train(resume_from_checkpoint=None)
    trainer.log_metrics("train", result.metrics)
    trainer.save_state()
    trainer.save_model(training_args.output_dir)


if __name__ == "__main__":
    task = sys.argv.pop(1)
    if task == "sft":
        run(R1SFTConfig, SFTTrainer)
    else:
        run(R1GRPOConfig, GRPOTrainer, reward_funcs=[length])
