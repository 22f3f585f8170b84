"""fp16 QLoRA with TRL's SFTTrainer, under patchkit.

    python examples/train_sft.py
    torchrun --nproc_per_node 2 examples/train_sft.py
    accelerate launch examples/train_sft.py --model meta-llama/Llama-3.2-1B --dataset trl-lib/Capybara

Without --model a tiny Llama is made on the spot, so that it runs anywhere. Without a GPU it takes
CUDA's fp16 path on the CPU.
"""

import patchkit  # isort: split

patchkit.apply()

import argparse
import tempfile
from pathlib import Path

import torch
from accelerate import PartialState
from datasets import Dataset, load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
from trl import SFTConfig, SFTTrainer

from patchkit.lab import cuda_fp16, tiny


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="name or folder; a tiny local model by default")
    parser.add_argument("--dataset", help="name of a dataset; made-up text by default")
    parser.add_argument("--steps", type=int, default=5)
    options = parser.parse_args()

    cuda_fp16.install()
    with tempfile.TemporaryDirectory() as folder:
        # Before there is a process group, in which only the first rank would save.
        model_name = options.model or str(tiny.build_causal_lm(Path(folder)))
        state = PartialState()
        model = AutoModelForCausalLM.from_pretrained(
            model_name,
            quantization_config=BitsAndBytesConfig(
                load_in_4bit=True,
                bnb_4bit_quant_type="nf4",
                bnb_4bit_compute_dtype=torch.float16,
            ),
            device_map={"": state.local_process_index if torch.cuda.is_available() else "cpu"},
        )
        trainer = SFTTrainer(
            model=model,
            args=SFTConfig(
                output_dir=folder,
                fp16=True,
                max_steps=options.steps,
                learning_rate=1e-2,
                logging_steps=1,
                report_to=[],
                save_strategy="no",
                use_cpu=not torch.cuda.is_available(),
                ddp_find_unused_parameters=False,
            ),
            train_dataset=(
                load_dataset(options.dataset, split="train")
                if options.dataset
                else Dataset.from_list([{"text": " ".join(tiny.WORDS[:12])}] * 64)
            ),
            processing_class=AutoTokenizer.from_pretrained(model_name),
            peft_config=LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM"),
        )
        trainer.train()
        losses = [row["loss"] for row in trainer.state.log_history if "loss" in row]
        dtypes = {str(p.dtype) for p in trainer.model.parameters() if p.requires_grad}
        print(
            f"rank {state.process_index} of {state.num_processes}: losses {losses}, trainable {sorted(dtypes)}, "
            f"{SFTTrainer.__init__.__code__.co_filename}",
            flush=True,
        )
        state.wait_for_everyone()
    if state.is_main_process:
        print(patchkit.report())


if __name__ == "__main__":
    main()
