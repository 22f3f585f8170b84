"""Time 4-bit layers of several compute dtypes and quant states by turns, and print their ratios."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any

#: Compute dtype and dtype of the quant state; None stands for the dtype of the activations. The
#: last one is the first again: how far it is off is how far any two can be.
LAYERS: dict[str, tuple[str | None, str | None]] = {
    "both match": (None, None),
    "quant state float32": (None, "float32"),
    "compute dtype float32": ("float32", None),
    "both float32": ("float32", "float32"),
    "both the other half precision": ("other", "other"),
    "both match, again": (None, None),
}
OTHER = {"bfloat16": "float16", "float16": "bfloat16"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--width", type=int, required=True)
    parser.add_argument("--tokens", type=int, required=True)
    parser.add_argument("--dtype", choices=OTHER, required=True)
    chosen = parser.parse_args()
    with contextlib.redirect_stdout(sys.stderr):
        outcome = _measure(chosen.rounds, chosen.width, chosen.tokens, chosen.dtype)
    print("\n" + json.dumps(outcome))


def _measure(rounds: int, width: int, tokens: int, dtype: str) -> dict[str, Any]:
    import torch

    torch.set_num_threads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    layers = {name: _layer(width, dtype, device, *kind) for name, kind in LAYERS.items()}
    x = torch.randn(tokens, width, device=device, dtype=getattr(torch, dtype), requires_grad=True)
    gradient = torch.randn_like(x)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in LAYERS}
    for turn in range(rounds + 1):
        for name, layer in layers.items():
            both = _time(layer, x, gradient)
            if turn:  # the first is for warming up
                times[name].append(both)
    _peak(layers["both match"], x, gradient)  # the profiler's own start
    peaks = {name: _peak(layer, x, gradient) for name, layer in layers.items()}
    base, *others = LAYERS
    ratios = {}
    for name in others:
        pairs = list(zip(times[name], times[base], strict=True))
        ratios[name] = {
            "forward": [pair[0] / match[0] for pair, match in pairs],
            "backward": [pair[1] / match[1] for pair, match in pairs],
            "memory": [peaks[name] / peaks[base]],
        }
    named = torch.cuda.get_device_name() if device == "cuda" else "CPU, one thread"
    return {
        "layers": ratios,
        "device": named,
        "milliseconds": {
            part: sorted(both[at] for both in times[base])[rounds // 2] * 1000
            for at, part in enumerate(("forward", "backward"))
        },
    }


def _layer(width: int, dtype: str, device: str, compute: str | None, state: str | None) -> Any:
    import bitsandbytes as bnb
    import torch

    def dtype_of(name: str | None) -> Any:
        return getattr(torch, {None: dtype, "other": OTHER[dtype]}.get(name, str(name)))

    torch.manual_seed(0)
    layer = bnb.nn.Linear4bit(
        width, width, bias=False, compute_dtype=dtype_of(compute), quant_type="nf4"
    )
    layer = layer.to(device).train()
    layer.weight.quant_state.dtype = dtype_of(state)
    return layer


def _time(layer: Any, x: Any, gradient: Any) -> tuple[float, float]:
    x.grad = None
    started = _now()
    y = layer(x)
    between = _now()
    y.backward(gradient)
    return between - started, _now() - between


def _now() -> float:
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def _peak(layer: Any, x: Any, gradient: Any) -> int:
    """Return what the tensors of one forward and backward take at most, in bytes."""
    import torch

    def step() -> None:
        x.grad = None
        layer(x).backward(gradient)

    if torch.cuda.is_available():
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        step()
        return int(torch.cuda.max_memory_allocated() - before)
    return _peak_on_cpu(step)


def _peak_on_cpu(step: Callable[[], None]) -> int:
    import torch

    with torch.profiler.profile(profile_memory=True) as profile:
        step()
    taken = peak = 0
    events = profile.profiler.kineto_results.events()
    for event in sorted(events, key=lambda event: event.start_ns()):
        if event.name() == "[memory]":
            taken += event.nbytes()
            peak = max(peak, taken)
    return peak


if __name__ == "__main__":
    main()
