"""Measure `patchkit.preflight` on models of 10,000 modules, in CPU time of one thread."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from results import Measure, options, show

LIMIT_MS = 200
MODULES = 10_000
LAYERS = 128


def main() -> None:
    chosen = options(__doc__, rounds=15).parse_args()
    import torch

    import patchkit

    torch.set_num_threads(1)
    patchkit.apply()
    measures: list[Measure] = []
    for name, model in models().items():
        modules = sum(1 for _ in model.modules())
        assert modules >= MODULES, modules
        args, optimizer = arguments(), optimizer_with_state(model)
        look = run(lambda: patchkit.preflight(model, args, optimizer), chosen.rounds)  # noqa: B023
        walk = run(lambda: list(model.named_modules()), chosen.rounds)  # noqa: B023
        count = f"{modules} modules, {sum(1 for _ in model.parameters())} parameters"
        measures += [
            Measure(f"{name}: {count}", look, "ms", LIMIT_MS),
            Measure("  `list(model.named_modules())` alone", walk, "ms"),
        ]
    show(measures, as_json=chosen.json)


def run(do: Callable[[], object], rounds: int) -> list[float]:
    """Time some work, but for the first call, which imports the checks and the catalogue."""
    samples = []
    for _ in range(rounds + 1):
        started = time.process_time()
        do()
        samples.append(1000 * (time.process_time() - started))
    return samples[1:]


def models() -> dict[str, Any]:
    from patchkit.lab import tiny

    tiny.go_offline()
    import peft
    import torch
    import transformers

    config = transformers.LlamaConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=LAYERS,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=64,
    )
    plain = transformers.LlamaForCausalLM(config).to(torch.bfloat16)
    with tempfile.TemporaryDirectory() as folder:
        plain.save_pretrained(folder)
        packed = tiny.load(Path(folder), quantization="4bit", dtype="bfloat16")
    lora = peft.LoraConfig(r=2, target_modules="all-linear", task_type="CAUSAL_LM")
    blocks = [torch.nn.Sequential(*(torch.nn.Linear(2, 2) for _ in range(9))) for _ in range(1000)]
    return {
        "LoRA on 4-bit": peft.get_peft_model(packed, lora),
        "LoRA": peft.get_peft_model(plain, lora),
        "trained whole": torch.nn.Sequential(*blocks),
    }


def arguments() -> Any:
    import transformers

    return transformers.TrainingArguments("unused", bf16=True, use_cpu=True, report_to=[])


def optimizer_with_state(model: Any) -> Any:
    import torch

    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4)
    for parameter in trained:
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    optimizer.zero_grad()
    return optimizer


if __name__ == "__main__":
    main()
