"""4-bit models on a CPU train adapters in the half precision of their base.

`ValueError: Attempting to unscale FP16 gradients.` in fp16; in bf16 nothing raises, and small
updates are rounded away. TRL takes 4-bit weights on a CPU for those that FSDP or ZeRO-3 is about to
shard. It does not prepare such a model for training, and tells PEFT to leave adapters in the base's
dtype. In TRL 1.16 Online DPO, SDPO and SDFT do so; up to 0.25 more trainers did, SFT among them.

Fix: weights on a CPU count as sharded only under FSDP or DeepSpeed. Those on the meta device still
do. A GPU knows no difference.

Why: TRL takes a 4-bit weight on a CPU for one that FSDP or ZeRO-3 has loaded there to shard it. A
single process has nobody who would shard it, so the patch asks whether anything shards, not where
the weights are.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, helper, require

PLACE = Pattern("P.device.type in {'cpu', 'meta'}")
MAY_BE_SHARDED = "may_be_sharded"


def takes_place_for_sharding(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name()], value=place):
            return PLACE(place)
    return False


def ask_who_shards(node: ast.AST) -> list[Edit]:
    match node:
        case ast.Assign(value=ast.Compare() as place):
            weight = PLACE.holes(place)["P"]
            ask = helper(f"patchkit.precision.adapters:{MAY_BE_SHARDED}")
            return require(place, f"{ask}({weight}, args)")
    raise AssertionError(ast.dump(node))


RULE = Rule(takes_place_for_sharding, ask_who_shards, names=("named_parameters", "device"))

PATCH = Patch(
    id="trl-cpu-qlora-not-sharded",
    title="4-bit models on a CPU are prepared for training as on a GPU",
    affects={"trl": ">=0.12"},
    changes=(
        Rewrite("trl.trainer.sft_trainer:SFTTrainer.__init__", RULE, affects="<0.15"),
        Rewrite(
            "trl.trainer.sft_trainer:SFTTrainer._prepare_peft_model", RULE, affects=">=0.15,<0.22"
        ),
        Rewrite("trl.models.utils:prepare_peft_model", RULE, affects=">=0.22,<0.27"),
        Rewrite("trl.experimental.utils:prepare_peft_model", RULE, affects=">=0.27"),
    ),
    upstream=("https://github.com/huggingface/trl/blob/v1.16.0/trl/experimental/utils.py",),
    symptom="Attempting to unscale FP16 gradients|adapters of a 4-bit model on a CPU are float16",
    messages=("Attempting to unscale FP16 gradients.",),
    caution="Adapters and norms of a 4-bit model on a CPU are float32, and its inputs have "
    "gradients, as on a GPU.",
)


_ARGUMENTS = {
    "fp16": True,
    "bf16": False,
    "gradient_checkpointing": False,
    "gradient_checkpointing_kwargs": None,
}


def reproduce() -> None:
    """Prepare a 4-bit model on the CPU, as Online DPO does, and as SFT did."""
    import dataclasses
    import tempfile
    from pathlib import Path

    import peft

    from patchkit.authoring import import_first, train_in_temporary_folder
    from patchkit.lab import quantized, tiny

    try:
        prepare = import_first("prepare_peft_model", ("trl.experimental.utils", "trl.models.utils"))
    except ImportError:
        from trl import SFTTrainer

        if not hasattr(SFTTrainer, "_prepare_peft_model"):
            lora = {"target_modules": ["q_proj", "lm_head"]}
            train_in_temporary_folder("sft", checkpoint="fp16", steps=1, lora=lora)
            return
        prepare = SFTTrainer.__new__(SFTTrainer)._prepare_peft_model
    with tempfile.TemporaryDirectory() as folder:
        path = tiny.build_causal_lm(Path(folder))
        config = quantized.configuration(4, compute_dtype="float16")
        model = quantized.load(
            path, dtype="float16", quantization_config=config, device_map={"": "cpu"}
        )
    arguments = dataclasses.make_dataclass("Arguments", _ARGUMENTS)(**_ARGUMENTS)
    # Older releases of PEFT make adapters of packed weights float32 whatever the arguments say.
    projections = ["q_proj", "lm_head"]
    adapter = peft.LoraConfig(r=4, target_modules=projections, task_type="CAUSAL_LM")
    model = prepare(model, adapter, arguments)
    dtypes = {str(weight.dtype) for name, weight in model.named_parameters() if "lora_" in name}
    assert dtypes == {"torch.float32"}, "adapters of a 4-bit model on a CPU are float16"
