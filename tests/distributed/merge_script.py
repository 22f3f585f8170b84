"""Run by torchrun: merge adapters into sharded weights, and unmerge them.

Each rank prints how many base weights are others afterwards, and whether the merged model predicts
what it did with its adapters apart.

Usage: torchrun --nproc_per_node 2 merge_script.py fsdp|fsdp2|zero3 upstream|patched
"""

import contextlib
import sys
from typing import Any

import torch
import torch.distributed as dist


def main(engine: str, side: str) -> None:
    dist.init_process_group("gloo")
    import peft

    if side == "patched":
        import patchkit

        patchkit.apply(only="peft-exact-unmerge", strict=True)
    torch.manual_seed(0)
    plain = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 64)).bfloat16()
    config = peft.LoraConfig(r=4, target_modules=["0", "1"], init_lora_weights=False)
    # FSDP wants one dtype of each group.
    model = peft.get_peft_model(plain, config, autocast_adapter_dtype=False)
    sharded = SHARD[engine](model)
    print(f"OUTCOME {outcome(model, sharded, GATHER[engine])}", flush=True)
    dist.destroy_process_group()


def outcome(model: Any, sharded: Any, gather: Any) -> str:
    inputs = torch.ones(1, 64, dtype=torch.bfloat16)
    with torch.no_grad():
        before = base_weights(model, sharded, gather)
        apart = sharded(inputs)
        with gather(sharded):
            model.merge_adapter()
        merged = sharded(inputs)
        with gather(sharded):
            model.unmerge_adapter()
        after = base_weights(model, sharded, gather)
    others = sum(int((tensor != other).sum()) for tensor, other in zip(before, after, strict=True))
    distance = float((merged - apart).float().norm() / apart.float().norm())
    return f"{others} others, merged {distance < 0.05}"


def base_weights(model: Any, sharded: Any, gather: Any) -> list[torch.Tensor]:
    with gather(sharded):
        weights = [
            parameter for name, parameter in model.named_parameters() if "base_layer.weight" in name
        ]
        return [
            getattr(weight, "full_tensor", lambda weight=weight: weight)().clone()
            for weight in weights
        ]


def with_fsdp(model: Any) -> Any:
    from torch.distributed.fsdp import FullyShardedDataParallel

    return FullyShardedDataParallel(model, use_orig_params=True, device_id=torch.device("cpu"))


def with_fsdp2(model: Any) -> Any:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    return fully_shard(model, mesh=init_device_mesh("cpu", (2,)))


def with_zero3(model: Any) -> Any:
    import deepspeed

    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # it would be compiled
    engine, *_ = deepspeed.initialize(
        model=model,
        config={
            "train_micro_batch_size_per_gpu": 1,
            "bf16": {"enabled": True},
            "zero_optimization": {"stage": 3},
        },
    )
    return engine


def summoned(sharded: Any) -> Any:
    from torch.distributed.fsdp import FullyShardedDataParallel

    return FullyShardedDataParallel.summon_full_params(sharded)


def gathered(engine: Any) -> Any:
    import deepspeed

    return deepspeed.zero.GatheredParameters(list(engine.parameters()), modifier_rank=0)


SHARD = {"fsdp": with_fsdp, "fsdp2": with_fsdp2, "zero3": with_zero3}
GATHER = {"fsdp": summoned, "fsdp2": lambda _: contextlib.nullcontext(), "zero3": gathered}

if __name__ == "__main__":
    main(*sys.argv[1:])
