# GRPO on a numbers game with a YAML recipe.
import re

from datasets import load_dataset
from transformers import AutoTokenizer
from trl import GRPOConfig, GRPOTrainer, ModelConfig, ScriptArguments, TrlParser, get_peft_config


def format_reward_func(completions, target, **kwargs):
    return [1.0 if re.search(r"<answer>", completion) else len(set(completion)) / 30 for completion in completions]


def equation_reward_func(completions, target, nums, **kwargs):
    return [1.0 if str(gold) in completion else 0.0 for completion, gold in zip(completions, target)]


def main():
    parser = TrlParser((ModelConfig, ScriptArguments, GRPOConfig))
    model_args, script_args, training_args = parser.parse_args_and_config()
    tokenizer = AutoTokenizer.from_pretrained(
        model_args.model_name_or_path,
        revision=model_args.model_revision,
        trust_remote_code=model_args.trust_remote_code,
    )
    dataset = load_dataset(script_args.dataset_name, split=script_args.dataset_train_split)
    dataset = dataset.shuffle(seed=42).select(range(40))

    def generate_r1_prompt(numbers, target):
        messages = [
            {"role": "system", "content": "You are a helpful assistant."},
            {"role": "user", "content": f"Using the numbers {numbers}, create an equation that equals {target}."},
            {"role": "assistant", "content": "Let me solve this step by step.\n<think>"},
        ]
        text = tokenizer.apply_chat_template(messages, tokenize=False, continue_final_message=True)
        return {"prompt": text, "target": target}

    dataset = dataset.map(lambda x: generate_r1_prompt(x["nums"], x["target"]))
    split = dataset.train_test_split(test_size=0.1)
    trainer = GRPOTrainer(
        model=model_args.model_name_or_path,
        reward_funcs=[format_reward_func, equation_reward_func],
        args=training_args,
        train_dataset=split["train"],
        eval_dataset=split["test"],
        peft_config=get_peft_config(model_args),
    )
    trainer.train()
    trainer.save_model(training_args.output_dir)


if __name__ == "__main__":
    main()
