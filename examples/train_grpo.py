"""fp16 QLoRA with TRL's GRPOTrainer, under patchkit.

    python examples/train_grpo.py
    torchrun --nproc_per_node 2 examples/train_grpo.py
    accelerate launch examples/train_grpo.py --model Qwen/Qwen3-0.6B --dataset trl-lib/ultrafeedback-prompt

A dataset has a column `prompt`: a text, or a list of messages with `role` and `content`. The loss
says little: look at the reward.
"""

import patchkit  # isort: split

patchkit.apply()

import torch
from example_inputs import prepared
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
from trl import GRPOConfig, GRPOTrainer


def variety(completions, **_) -> list[float]:
    """The share of different words in each answer."""
    texts = [
        completion if isinstance(completion, str) else completion[0]["content"]
        for completion in completions
    ]
    return [len(set(text.split())) / max(len(text.split()), 1) for text in texts]


def main() -> None:
    with prepared("grpo", __doc__) as given:
        model = AutoModelForCausalLM.from_pretrained(
            given.model,
            dtype=torch.float16,  # `torch_dtype` before Transformers 4.56
            quantization_config=BitsAndBytesConfig(
                load_in_4bit=True,
                bnb_4bit_quant_type="nf4",
                bnb_4bit_compute_dtype=torch.float16,
            ),
            device_map={"": given.device},
        )
        trainer = GRPOTrainer(
            model=model,
            reward_funcs=variety,
            args=GRPOConfig(
                fp16=True,
                per_device_train_batch_size=4,
                num_generations=4,
                max_completion_length=32,
                **given.args,
            ),
            train_dataset=given.dataset,
            processing_class=AutoTokenizer.from_pretrained(given.model),
            peft_config=LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM"),
        )
        trainer.train()
        given.tell(trainer)


if __name__ == "__main__":
    main()
