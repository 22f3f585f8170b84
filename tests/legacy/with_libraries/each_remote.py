"""Load each model of `remote_code`, train a step, save, load again and generate; print as JSON.

python each_remote.py off|on
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from pathlib import Path

MODELS = Path(__file__).parent.parent / "remote_code"


os.environ["HF_MODULES_CACHE"] = str(Path.cwd() / "modules")


def tried(folder: Path) -> dict[str, object]:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(0)
    config = AutoConfig.from_pretrained(folder, trust_remote_code=True)
    model = AutoModelForCausalLM.from_config(config, trust_remote_code=True)
    ids = torch.tensor([[1, 5, 7, 9, 11, 13]])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in range(2):
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    saved = Path.cwd() / folder.name
    model.save_pretrained(saved)
    for file in folder.glob("*.py"):
        (saved / file.name).write_text(file.read_text())
    again = AutoModelForCausalLM.from_pretrained(saved, trust_remote_code=True)
    model.eval()
    again.eval()
    settings = {"max_new_tokens": 5, "do_sample": False, "pad_token_id": 0, "eos_token_id": 63}
    alone = again.generate(ids, use_cache=False, **settings)
    inputs, outputs = again.get_input_embeddings(), again.get_output_embeddings()
    return {
        "learns": losses[1] < losses[0],
        "same_again": torch.equal(model(input_ids=ids).logits, again(input_ids=ids).logits),
        "tied": outputs is not None and outputs.weight is inputs.weight,
        "should_tie": bool(getattr(config, "weight_tying", False) or config.tie_word_embeddings),
        "with_cache_as_without": torch.equal(again.generate(ids, **settings), alone),
        "new": alone.shape[1] - ids.shape[1],
    }


def main(on: bool) -> dict[str, object]:
    warnings.simplefilter("ignore")
    if on:
        import patchkit

        patchkit.apply(only=[], legacy=True)
    found: dict[str, object] = {}
    for folder in sorted(MODELS.iterdir()):
        if not (folder / "config.json").is_file():
            continue
        try:
            found[folder.name] = tried(folder)
        except Exception as error:
            found[folder.name] = f"{type(error).__name__}: {error}"
            traceback.print_exc(file=sys.stderr)
    return found


if __name__ == "__main__":
    print("\n" + json.dumps(main(sys.argv[1] == "on")))
