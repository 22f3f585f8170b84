"""Measure 4-bit layers whose compute dtype or quant state is another than the training's."""

from __future__ import annotations

from pathlib import Path

from fresh import interpreters
from results import Measure, options, show

PROGRAM = Path(__file__).parent / "programs" / "four_bit_layer.py"


def main() -> None:
    parser = options(__doc__, rounds=15)
    parser.add_argument("--width", type=int, default=1024, help="inputs and outputs of the layer")
    parser.add_argument("--tokens", type=int, default=64, help="rows of the input")
    parser.add_argument("--dtype", choices=("bfloat16", "float16"), default="bfloat16")
    chosen = parser.parse_args()
    arguments = [
        str(PROGRAM),
        f"--rounds={chosen.rounds}",
        f"--width={chosen.width}",
        f"--tokens={chosen.tokens}",
        f"--dtype={chosen.dtype}",
    ]
    with interpreters() as python:
        outcome = python.run(arguments)
    measures: list[Measure] = []
    for name, ratios in outcome["layers"].items():
        measures.append(Measure(f"{name}: forward", ratios["forward"], "x"))
        measures.append(Measure("  backward", ratios["backward"], "x"))
        measures.append(Measure("  memory at its peak", ratios["memory"], "x"))
    compared = (
        "Ratios to a layer in which compute dtype and quant state are those of the activations, "
        "taken by turns; memory: what tensors of one forward and backward take at most."
    )
    milliseconds = ", ".join(f"{part} {ms:.2f} ms" for part, ms in outcome["milliseconds"].items())
    size = f"{chosen.width} x {chosen.width}, {chosen.tokens} tokens, {chosen.dtype}"
    notes = [compared, f"{outcome['device']}; {size}; that layer itself: {milliseconds}"]
    show(measures, notes, as_json=chosen.json)


if __name__ == "__main__":
    main()
