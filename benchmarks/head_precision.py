"""Train a classifier's head in bf16, in bfloat16 and in float32: losses, and updates that are lost.

A tiny Llama in bfloat16 gets LoRA and a trained head (`modules_to_save`), as a reward model does.
The head's copy is trained as PEFT leaves it, in bfloat16, and made float32 before training. All
else, seeds and data included, is the same. An update is lost if it leaves a weight as it was.
"""

from __future__ import annotations

import statistics
from typing import Any

from results import options, where

RATES = (1e-3, 1e-4, 1e-5)
BATCH, LENGTH, WIDTH = 16, 8, 128


def main() -> None:
    parser = options(__doc__, rounds=3)
    parser.add_argument("--steps", type=int, default=100)
    chosen = parser.parse_args()
    print(where())
    print("| learning rate | head | lost updates of the head | last losses | the head moved by |")
    print("| --- | --- | --- | --- | --- |")
    for rate in RATES:
        for dtype in ("bfloat16", "float32"):
            runs = [train(rate, dtype, seed, chosen.steps) for seed in range(chosen.rounds)]
            lost = statistics.fmean(run["lost"] for run in runs)
            moved = statistics.fmean(run["moved"] for run in runs)
            losses = ", ".join(f"{run['loss']:.4f}" for run in runs)
            print(f"| {rate:g} | {dtype} | {lost:.1%} | {losses} | {moved:.3g} |", flush=True)


def train(rate: float, dtype: str, seed: int, steps: int) -> dict[str, float]:
    """Train once; the loss is the mean of the last twenty steps."""
    import torch

    model = _model(seed)
    (head,) = (
        module.modules_to_save["default"]
        for name, module in model.named_modules()
        if name.endswith("score") and hasattr(module, "modules_to_save")
    )
    head.to(getattr(torch, dtype))
    weight = head.weight
    start = weight.detach().float().clone()
    optimizer = torch.optim.AdamW(
        [parameter for parameter in model.parameters() if parameter.requires_grad],
        lr=rate,
        weight_decay=0.0,
    )
    generator = torch.Generator().manual_seed(seed)
    losses: list[float] = []
    lost = 0
    for _ in range(steps):
        ids = torch.randint(3, 64, (BATCH, LENGTH), generator=generator)
        # The share of words of the upper half.
        labels = (ids >= 34).float().mean(1, keepdim=True)
        with torch.autocast("cpu", torch.bfloat16):
            scores = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
        loss = (scores.float() - 4 * (labels - 0.5)).square().mean()
        loss.backward()
        before = weight.detach().clone()
        optimizer.step()
        optimizer.zero_grad()
        lost += int((weight == before).sum())
        losses.append(loss.item())
    moved = float((weight.detach().float() - start).abs().mean() / start.abs().mean())
    return {
        "loss": statistics.fmean(losses[-20:]),
        "lost": lost / (steps * weight.numel()),
        "moved": moved,
    }


def _model(seed: int) -> Any:
    import peft
    import torch
    import transformers

    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=64,
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=4,
        num_labels=1,
        pad_token_id=0,
    )
    model = transformers.LlamaForSequenceClassification(config).bfloat16()
    lora = peft.LoraConfig(
        r=8, target_modules=["q_proj", "v_proj"], task_type="SEQ_CLS", modules_to_save=["score"]
    )
    return peft.get_peft_model(model, lora)


if __name__ == "__main__":
    main()
