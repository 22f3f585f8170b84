"""Findings about models that other libraries than bitsandbytes quantize, with the real libraries.

Those that are not installed are skipped: `pip install torchao hqq optimum-quanto`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from patchkit.inspection.findings import Severity
from workbench.families.quantizers import QUANTIZERS

LIBRARY = {"torchao-int8": "torchao", "quanto-int8": "quanto", "hqq-4bit": "hqq"}
FINDING = "quantized-in-another-dtype"


def adapted(folder: Path, name: str, dtype: str) -> Any:
    """Return LoRA on a tiny Llama that a library has quantized."""
    import peft
    import torch
    import transformers

    from patchkit.lab import tiny

    quantizer = QUANTIZERS[name]
    if quantizer.obstacle("llama"):
        pytest.skip(quantizer.obstacle("llama"))
    plain = tiny.build_causal_lm(folder / "model")
    options = {tiny.dtype_keyword(): getattr(torch, dtype)}
    model = quantizer.load(transformers.AutoModelForCausalLM, plain, options)
    config = peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    return peft.get_peft_model(model, config)


@pytest.mark.parametrize("name", LIBRARY)
@pytest.mark.parametrize(("dtype", "precision"), [("float16", "fp16"), ("bfloat16", "bf16")])
def test_nothing_is_said_of_the_dtype_of_the_training(
    make, look, name: str, dtype: str, precision: str
) -> None:
    findings = look(adapted(make.folder, name, dtype), make.args(precision))
    assert list(findings.ids) == []
    assert f"quantized by {LIBRARY[name]}" in str(findings)


@pytest.mark.parametrize(("name", "library"), LIBRARY.items())
@pytest.mark.parametrize(("dtype", "precision"), [("bfloat16", "fp16"), ("float16", "bf16")])
def test_layers_in_the_other_half_precision(
    make, look, name: str, library: str, dtype: str, precision: str
) -> None:
    findings = look(adapted(make.folder, name, dtype), make.args(precision))
    finding = findings[FINDING]
    assert finding.severity is (Severity.WARNING if library == "torchao" else Severity.ERROR)
    assert f"14 layers that {library} has quantized" in finding.found
    assert f"compute in {dtype}" in finding.found
    other = next(finding for finding in findings if "-model-in-" in finding.id)
    assert "q_proj" not in other.found  # its numbers are packed: no pass casts them
    assert not finding.fixable
    assert not other.fixable  # thread_dtype refuses such a model


@pytest.mark.parametrize("name", LIBRARY)
def test_the_severity_is_what_a_step_does(make, name: str) -> None:
    """A bfloat16 model in fp16, as on a GPU without bfloat16."""
    import torch

    from patchkit.lab import cuda_autocast

    model = adapted(make.folder, name, "bfloat16")
    words = torch.arange(3, 11).unsqueeze(0)
    undo = cuda_autocast.install()
    try:
        with torch.autocast("cpu", torch.float16):
            loss = model(input_ids=words, labels=words).loss
    finally:
        undo()
    if LIBRARY[name] == "torchao":
        loss.backward()
    else:
        with pytest.raises(RuntimeError, match=r"Half != c10::BFloat16"):
            loss.backward()
