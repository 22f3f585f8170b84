"""fp16 QLoRA with TRL's DPOTrainer, under patchkit.

    python examples/train_dpo.py
    torchrun --nproc_per_node 2 examples/train_dpo.py
    accelerate launch examples/train_dpo.py --model Qwen/Qwen3-0.6B --dataset trl-lib/ultrafeedback_binarized

A dataset has the columns `chosen` and `rejected`, and `prompt` where they do not begin with it: each
a text, or a list of messages with `role` and `content`.
"""

import patchkit  # isort: split

patchkit.apply()

import torch
from example_inputs import prepared
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
from trl import DPOConfig, DPOTrainer


def main() -> None:
    with prepared("dpo", __doc__) as given:
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
        trainer = DPOTrainer(
            model=model,  # its adapters switched off are the reference model
            args=DPOConfig(fp16=True, beta=0.1, per_device_train_batch_size=2, **given.args),
            train_dataset=given.dataset,
            processing_class=AutoTokenizer.from_pretrained(given.model),
            peft_config=LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM"),
        )
        trainer.train()
        given.tell(trainer)


if __name__ == "__main__":
    main()
