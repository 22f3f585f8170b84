"""What TRL's PEFT helpers cast in a bf16 run, and in others."""

from __future__ import annotations

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.catalogue.resolution import resolve

from ..due import only_if_due

ID = "trl-peft-helper-bf16-cast"
TARGETS = [change.target for change in resolve(catalogue.load().entries[ID].patch).changes]
PREPARE = "trl.experimental.utils:prepare_peft_model"

pytestmark = only_if_due(ID)

HEAD = """
    import os
    import patchkit
    from patchkit.lab.reproduce import four_bit_model_with_trained_head, import_first
    {apply}
    prepare = import_first(
        "peft_module_casting_to_bf16",
        ("trl.experimental.utils", "trl.models.utils", "trl.trainer.utils"),
    )
    model = four_bit_model_with_trained_head()
    model.base_model.model.lm_head.base_layer.float()
    prepare(model)
    def dtypes(trained):
        return sorted({{str(p.dtype)[6:] for n, p in model.named_parameters()
                       if "lm_head" in n and p.requires_grad == trained}})
    result = [dtypes(True), dtypes(False)]
"""
APPLY = f"patchkit.apply(only='{ID}', strict=True)"


def test_a_trained_head_stays_float32_and_the_frozen_one_is_cast(forked) -> None:
    assert forked(HEAD.format(apply="")) == [["bfloat16"], ["bfloat16"]]
    assert forked(HEAD.format(apply=APPLY)) == [["float32"], ["bfloat16"]]


@pytest.mark.parametrize("variable", ["PATCHKIT_ADAPTER_CAST=bf16", "ACCELERATE_USE_FSDP=true"])
def test_upstream_s_cast_by_choice_or_where_parameters_are_sharded(forked, variable: str) -> None:
    env = dict([variable.split("=")])
    assert forked(HEAD.format(apply=APPLY), env=env) == [["bfloat16"], ["bfloat16"]]


MODEL = """
    import tempfile, types
    from pathlib import Path
    import bitsandbytes, peft
    import patchkit
    from patchkit.lab import tiny
    {apply}
    from trl.experimental.utils import prepare_peft_model
    # TRL takes 4-bit weights on a CPU for sharded ones; it knows them by the name of their class.
    bitsandbytes.nn.Params4bit.__name__ = "Params4bitOnAGpu"
    with tempfile.TemporaryDirectory() as folder:
        path = tiny.build_causal_lm(Path(folder), dtype="float32")
        model = tiny.load(path, quantization="4bit", dtype="float32")
    args = types.SimpleNamespace(
        fp16={fp16}, bf16={bf16}, gradient_checkpointing=False, gradient_checkpointing_kwargs=None
    )
    config = peft.LoraConfig(r=4, target_modules=["q_proj"], task_type="CAUSAL_LM")
    model = prepare_peft_model(model, config, args)
    result = [
        sorted({{str(p.dtype)[6:] for n, p in model.named_parameters()
                if part in n and p.requires_grad == (part == "lora")}})
        for part in ("lora", "norm")
    ]
"""


@pytest.mark.skipif(PREPARE not in TARGETS, reason="prepare_peft_model casts from TRL 1.9 on")
@pytest.mark.parametrize(
    ("fp16", "bf16", "apply", "adapters", "norms"),
    [
        (False, True, "", "bfloat16", "bfloat16"),
        (False, True, APPLY, "float32", "bfloat16"),
        (True, False, "", "float32", "float32"),
        (True, False, APPLY, "float32", "float32"),
        (False, True, APPLY.replace("strict", "dtype='float16', strict"), "float32", "float32"),
    ],
)
def test_prepare_peft_model(forked, fp16, bf16, apply, adapters, norms) -> None:
    assert forked(MODEL.format(apply=apply, fp16=fp16, bf16=bf16)) == [[adapters], [norms]]


def test_packed_weights_are_not_cast() -> None:
    import bitsandbytes
    import torch

    from patchkit.precision.adapters import cast_frozen_to_bfloat16

    layer = bitsandbytes.nn.Linear4bit(64, 64, quant_type="nf4", quant_storage=torch.float16).to(
        "cpu"
    )
    layer.requires_grad_(False)
    packed = layer.weight.data.clone()
    assert cast_frozen_to_bfloat16(layer) is layer
    assert layer.weight.dtype == torch.float16
    assert torch.equal(layer.weight.data.view(torch.uint8), packed.view(torch.uint8))
    assert layer.bias.dtype == torch.bfloat16
