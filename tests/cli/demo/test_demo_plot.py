"""The picture of the demo, drawn from made-up outcomes."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

try:
    import matplotlib
except ImportError:
    matplotlib = None
else:
    from patchkit.cli.demo.picture import draw

needs_matplotlib = pytest.mark.skipif(matplotlib is None, reason="matplotlib is not installed")
SVG = "{http://www.w3.org/2000/svg}"
WHAT = {"trainer": "sft", "precision": "fp16", "checkpoint": "bf16", "quantization": "4bit"}
STEPS = 8
LOSSES = [5.0, 4.5, 4.7, 4.0, 3.5, 3.6, 3.0, 2.5]
ERROR = "\"_amp_foreach_non_finite_check_and_unscale_cuda\" not implemented for 'BFloat16'"


def dtypes(adapters: str) -> list[dict[str, Any]]:
    return [
        {"kind": "LoRA A", "trained": True, "dtypes": {adapters: 14}},
        {"kind": "norms", "trained": False, "dtypes": {"float16": 4, "float32": 1}},
        {"kind": "4-bit weights stored in", "trained": False, "dtypes": {"uint8": 14}},
    ]


def trained(adapters: str = "float32", losses: list[float] = LOSSES) -> dict[str, Any]:
    return {"ok": True, "losses": losses, "dtypes": dtypes(adapters), "trl": "1.2.3"}


def died(begun: int | None, done: int, error: str = ERROR) -> dict[str, Any]:
    outcome = {"ok": False, "error_type": "NotImplementedError", "error": error}
    outcome |= {"losses": LOSSES[:done], "dtypes": dtypes("bfloat16")}
    return outcome if begun is None else {**outcome, "steps_begun": begun}


BARE = {"ok": False, "error_type": "SubprocessError", "error": "killed by signal 9:\nlast words"}
CASES = {
    "two curves": (trained("bfloat16"), trained()),
    "the first step": (died(1, 0), trained()),
    "a step in between": (died(5, 4), trained()),
    "the last step": (died(8, 7), trained()),
    "after the last step": (died(8, 8), trained()),
    "before the first step": (died(0, 0), trained()),
    "nobody knows when": (died(None, 3), trained()),
    "nothing is known": (BARE, trained()),
    "both": (died(1, 0), died(6, 5)),
    "neither has anything": (BARE, BARE),
    "a long error": (died(4, 3, "x" * 400 + " and so on" * 50), trained()),
    "a loss that is no number": (trained(losses=[5.0, float("nan"), float("inf")]), trained()),
}


def elements(picture: bytes, prefix: str) -> dict[str, ET.Element]:
    groups = ET.fromstring(picture).iter(f"{SVG}g")
    return {
        group.get("id", ""): group for group in groups if group.get("id", "").startswith(prefix)
    }


def points(group: ET.Element) -> list[tuple[float, float]]:
    path = next(group.iter(f"{SVG}path"), None)
    found = re.findall(r"[ML] (\S+) (\S+)", path.get("d", "") if path is not None else "")
    return [(float(x), float(y)) for x, y in found]


def words(picture: bytes) -> str:
    # Each line is an element.
    found = (text.text or "" for text in ET.fromstring(picture).iter(f"{SVG}text"))
    return " ".join(" ".join(found).split())


def drawn(case: str, form: str = "svg", steps: int = STEPS) -> bytes:
    return draw(*CASES[case], WHAT, steps, form)


@needs_matplotlib
@pytest.mark.parametrize(
    ("case", "without", "fixed"),
    [
        ("two curves", 8, 8),
        ("the first step", 0, 8),
        ("a step in between", 4, 8),
        ("nothing is known", 0, 8),
        ("both", 0, 5),
        ("neither has anything", 0, 0),
    ],
)
def test_each_loss_is_a_point(case: str, without: int, fixed: int) -> None:
    curves = elements(drawn(case), "loss:")
    assert len(points(curves["loss:without"])) == without
    assert len(points(curves["loss:with"])) == fixed
    # Downwards on the page, as losses rise.
    for name, outcome in zip(("without", "with"), CASES[case], strict=True):
        ys = [-y for _, y in points(curves[f"loss:{name}"])]
        losses = list(outcome.get("losses", ()))
        assert sorted(range(len(ys)), key=ys.__getitem__) == sorted(
            range(len(losses)), key=losses.__getitem__
        )


@needs_matplotlib
@pytest.mark.parametrize(
    ("case", "step", "text"),
    [
        ("the first step", 1, "without patchkit: died in step 1"),
        ("a step in between", 5, "without patchkit: died in step 5"),
        ("the last step", 8, "without patchkit: died in step 8"),
        ("after the last step", 8, "without patchkit: died after step 8"),
        ("before the first step", 1, "without patchkit: died before step 1"),
        ("nobody knows when", 3, "without patchkit: died after step 3"),
        ("nothing is known", 1, "without patchkit: died, no step was done"),
    ],
)
def test_a_death_stands_at_its_step(case: str, step: int, text: str) -> None:
    picture = drawn(case)
    deaths = elements(picture, "death:")
    assert set(deaths) == {"death:without"}
    x = points(deaths["death:without"])[0][0]
    assert x == pytest.approx(points(elements(picture, "loss:")["loss:with"])[step - 1][0])
    said = words(picture)
    # In the legend and at the step.
    assert said.count(text) == 2
    error = "SubprocessError: killed by signal 9" if "nothing" in case else ERROR
    assert error in said
    assert "last words" not in said


@needs_matplotlib
def test_no_death_where_both_trained() -> None:
    picture = drawn("two curves")
    assert elements(picture, "death:") == {}
    assert "died" not in words(picture)
    assert {"without patchkit: trained", "with patchkit: trained"} <= {
        (text.text or "").strip() for text in ET.fromstring(picture).iter(f"{SVG}text")
    }


@needs_matplotlib
def test_two_deaths() -> None:
    picture = drawn("both")
    assert set(elements(picture, "death:")) == {"death:without", "death:with"}
    assert "with patchkit: died in step 6" in words(picture)


@needs_matplotlib
def test_a_long_error_is_cut() -> None:
    said = words(drawn("a long error"))
    assert said.count("and so on") < 20
    assert " ..." in said


@needs_matplotlib
def test_cells() -> None:
    cells = elements(drawn("the first step"), "cell:")
    fill = {
        name: [element.get("style", "") for element in cell.iter()] for name, cell in cells.items()
    }
    adapters = "cell:LoRA A (trained)"
    assert "fill: #e69f00" in " ".join(fill[f"{adapters}:without patchkit:bfloat16"])
    assert "fill: #0072b2" in " ".join(fill[f"{adapters}:with patchkit:float32"])
    assert set(fill) == {
        f"{adapters}:without patchkit:bfloat16",
        f"{adapters}:with patchkit:float32",
        *(
            f"cell:{kind}:{column} patchkit:{dtype}"
            for column in ("without", "with")
            for kind, dtype in (
                ("norms", "4 float16"),
                ("norms", "1 float32"),
                ("4-bit weights stored in", "uint8"),
            )
        ),
    }


@needs_matplotlib
@pytest.mark.parametrize(
    ("without", "fixed", "expected"),
    [
        (None, dtypes("float32")[:1], {"without patchkit:not known", "with patchkit:float32"}),
        (dtypes("bfloat16")[:1], None, {"without patchkit:bfloat16", "with patchkit:not known"}),
        ([*dtypes("bfloat16")[1:2]], dtypes("float32")[:1], {"without patchkit:none"}),
        (None, None, set()),
    ],
)
def test_missing_dtypes(without, fixed, expected: set[str]) -> None:
    outcomes = [
        {**trained(), "dtypes": dtypes} if dtypes is not None else {"ok": True, "losses": LOSSES}
        for dtypes in (without, fixed)
    ]
    picture = draw(*outcomes, WHAT, STEPS, "svg")
    row = "cell:LoRA A (trained):"
    cells = {name.removeprefix(row) for name in elements(picture, row)}
    assert expected <= cells
    assert ("not known" in words(picture)) is (None in (without, fixed))


@needs_matplotlib
@pytest.mark.parametrize(
    ("case", "steps"), [*((case, STEPS) for case in CASES), ("both", 1000), ("two curves", 1000)]
)
def test_nothing_runs_off_the_page(case: str, steps: int) -> None:
    from matplotlib.image import imread

    pixels = imread(io.BytesIO(drawn(case, "png", steps)))[..., :3]
    border = 5
    for edge in (pixels[:border], pixels[-border:], pixels[:, :border], pixels[:, -border:]):
        assert edge.min() == 1, "white and opaque"


@needs_matplotlib
def test_one_step() -> None:
    picture = draw(died(1, 0), trained(losses=[5.0]), WHAT, 1, "svg")
    assert len(points(elements(picture, "loss:")["loss:with"])) == 1


@needs_matplotlib
def test_a_formula_is_no_formula() -> None:
    assert "no $x$ here" in words(draw(died(1, 0, "no $x$ here"), trained(), WHAT, STEPS, "svg"))
