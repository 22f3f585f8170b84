"""Run by torchrun: an SFTTrainer in bf16 under FSDP, its model sharded by FSDP itself.

Accelerate leaves FSDP out on a CPU without a word, so the sharding that it would do follows here:
PEFT's wrap policy, and the storage dtype of the 4-bit weights. The trained embedding rows of
`trainable_token_indices` share a flat group with frozen bfloat16 parameters.

Usage: torchrun --nproc_per_node 2 fsdp_script.py MODEL_FOLDER upstream|patched|blind
"""

import sys

import torch
import torch.distributed as dist


def main(folder: str, mode: str) -> None:
    if mode != "upstream":
        import patchkit
        from patchkit.precision import adapters

        patchkit.apply(only="trl-adapter-bf16-cast", strict=True)
        if mode == "blind":
            adapters.uses_fsdp = lambda args: False
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
    from trl import SFTConfig, SFTTrainer

    config = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
        bnb_4bit_quant_storage=torch.bfloat16,
    )
    model = AutoModelForCausalLM.from_pretrained(
        folder, quantization_config=config, dtype=torch.bfloat16
    )
    from datasets import Dataset

    trainer = SFTTrainer(
        model=model,
        args=SFTConfig(folder, bf16=True, report_to=[], use_cpu=True, gradient_checkpointing=False),
        train_dataset=Dataset.from_list([{"text": "ba be bi"}] * 4),
        processing_class=AutoTokenizer.from_pretrained(folder),
        peft_config=LoraConfig(
            r=4, target_modules=["q_proj"], task_type="CAUSAL_LM", trainable_token_indices=[9, 10]
        ),
    )
    try:
        outcome = shard_and_step(trainer.model)
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
    print(f"OUTCOME {outcome}", flush=True)
    dist.destroy_process_group()


def shard_and_step(model: torch.nn.Module) -> str:
    from peft.utils.other import fsdp_auto_wrap_policy
    from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision

    half = torch.bfloat16
    sharded = FullyShardedDataParallel(
        model,
        auto_wrap_policy=fsdp_auto_wrap_policy(model),
        use_orig_params=True,
        device_id=torch.device("cpu"),
        mixed_precision=MixedPrecision(param_dtype=half, reduce_dtype=half, buffer_dtype=half),
    )
    ids = torch.tensor([[9, 10, 11, 12]])
    with torch.autocast("cpu", half):
        sharded(input_ids=ids, labels=ids).loss.backward()
    torch.optim.SGD([p for p in sharded.parameters() if p.requires_grad], 0.1).step()
    return "stepped"


if __name__ == "__main__":
    main(*sys.argv[1:])
