"""`patchkit explain`: one patch in words, by its id or by the error on the screen."""

from __future__ import annotations

import json

import pytest

from .conftest import MESSAGE, invoke, patch


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_text(madeup) -> None:
    result = invoke("explain", "madeup-cast")
    assert (result.exit_code, result.stderr) == (0, "")
    text = words(result.stdout)
    for part in (
        "the bug Training dies.",
        f"`ValueError: {MESSAGE}`, since the trainer asks for it in two lines.",
        f"you see {MESSAGE}",
        "affected madeup >=1",
        "here madeup 1.2.0: due here; patchkit.apply() applies it",
        "measured not measured on madeup 1.2.0",
        "the fix it asks no more.",
        "changes madeup.trainer:Trainer.train rewritten",
        "differs It is slower.",
        "settings madeup_cast='off' or 'on': whether to cast (PATCHKIT_MADEUP_CAST from outside;",
        'leave out patchkit.apply(exclude="madeup-cast") PATCHKIT_DISABLE=madeup-cast',
        "upstream https://example.org/1",
        "see also patchkit diff madeup-cast patchkit verify madeup-cast",
    ):
        assert part in text


def test_the_text_has_the_first_paragraph_of_the_reasons(madeup) -> None:
    text = words(invoke("explain", "madeup-cast").stdout)
    assert "why so nobody wants it. changes" in text
    (one,) = json.loads(invoke("explain", "madeup-cast", "--json").stdout)["patches"]
    assert one["why"] == "nobody wants it.\n\nIt was measured."


def test_what_is_asked_for(madeup, use) -> None:
    assert "ask for it" not in invoke("explain", "madeup-cast").stdout
    use(patch("madeup-asked", opt_in="lookout", symptom="loud", messages=("loud",)))
    text = words(invoke("explain", "madeup-asked").stdout)
    assert "here madeup 1.2.0: due here; patchkit.apply(lookout=True) applies it" in text
    assert "ask for it patchkit.apply(lookout=True) PATCHKIT_LOOKOUT=1 patchkit run --opt-in" in (
        text
    )
    assert "? on request" in invoke("list").stdout


def test_what_there_is_not_is_left_out(madeup) -> None:
    text = invoke("explain", "madeup-wrap").stdout
    for label in ("you see", "differs", "settings", "upstream"):
        assert label not in text
    assert "wrapped by madeup.helpers.around" in words(text)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("madeup-fixed", "here madeup 1.2.0 does not have this bug; >=2 has"),
        ("absent-bug", "here absent is not installed"),
    ],
)
def test_not_due(madeup, name: str, reason: str) -> None:
    result = invoke("explain", name)
    assert result.exit_code == 0
    assert reason in words(result.stdout)


@pytest.mark.parametrize(("columns", "widest"), [(60, 60), (80, 80), (200, 100)])
def test_it_fits(madeup, columns: int, widest: int) -> None:
    text = invoke("explain", "madeup-cast", env={"COLUMNS": str(columns)}).stdout
    assert widest - 25 < max(map(len, text.splitlines())) <= widest


def test_what_is_copied_stays_whole_in_a_narrow_terminal(madeup) -> None:
    text = invoke("explain", "madeup-cast", env={"COLUMNS": "30"}).stdout
    for copied in (
        "madeup.trainer:Trainer.train",
        'patchkit.apply(exclude="madeup-cast")',
        "PATCHKIT_DISABLE=madeup-cast",
        "https://example.org/1",
    ):
        assert copied in text
    prose = [line for line in text.splitlines() if "`" not in line and " " in line]
    assert max(map(len, prose)) <= 30


def test_several(madeup) -> None:
    text = invoke("explain", "madeup-w*", "absent-bug").stdout
    assert [line for line in text.splitlines() if line in ("madeup-wrap", "absent-bug")] == [
        "madeup-wrap",
        "absent-bug",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        [MESSAGE],
        MESSAGE.split(),
        [f"Traceback (most recent call last):\n  in x\nValueError: {MESSAGE}\n"],
    ],
    ids=["quoted", "unquoted", "traceback"],
)
def test_an_error_that_several_know(madeup, arguments: list[str]) -> None:
    result = invoke("explain", *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("2 patches know this error")
    assert [line for line in lines if line.startswith("madeup-")] == [
        "madeup-cast (due)",
        "madeup-fixed (not-affected)",
    ]
    found = json.loads(invoke("explain", *arguments, "--json").stdout)["patches"]
    assert [patch["id"] for patch in found] == ["madeup-cast", "madeup-fixed"]


@pytest.mark.parametrize(
    "pasted",
    [
        "\x1b[31mValueError\x1b[0m: Attempting to \x1b[1mtrain\x1b[0m in madeup precision",
        "[rank0]: ValueError: Attempting to train in mad\r\n[rank0]: eup precision\r\n",
        "2026-11-22 18:04:20,123 Attempting to train\n2026-11-22 18:04:20,124 in madeup precision",
        "&gt;&nbsp;Attempting to train in\n> madeup precision",
        "Attempting to \u201ctrain\u201d in madeup prec",
    ],
)
def test_an_error_as_it_was_pasted(madeup, pasted: str) -> None:
    assert words(invoke("explain", pasted).stdout).startswith("2 patches know this error")


def test_an_error_that_one_knows_is_explained(use) -> None:
    use(patch("madeup-cast", symptom="x", messages=("some x of it",)), patch("madeup-other"))
    assert "the fix" in invoke("explain", "that was some x of it").stdout


def test_one_word_of_an_error(use) -> None:
    use(patch("madeup-cast", symptom="_amp", messages=("_amp_foreach_check of it",)))
    assert "the fix" in invoke("explain", "_amp_foreach_check").stdout


def test_an_old_spelling_comes_before_a_loose_symptom(use) -> None:
    use(patch("madeup-cast", symptom="uint8|some bytes", messages=("some bytes of it",)))
    error = "cannot import name 'ORPOTrainer' from 'trl'"
    assert "patchkit run --legacy" in invoke("explain", f"storage: uint8\n{error}").stdout
    assert "the fix" in invoke("explain", f"some bytes of it\n{error}").stdout
    assert "the fix" in invoke("explain", "the storage is uint8").stdout


def test_an_error_that_none_knows(madeup) -> None:
    result = invoke("explain", "no such error at all")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Nothing here knows this error.")
    assert result.stderr.count("\n") <= 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["madeup-csat"], "Did you mean 'madeup-cast'"),
        (["madeup-csat", "madeup-wrpa"], "Did you mean 'madeup-"),
        (["madeup-cast", "madeup-wrpa"], "Did you mean 'madeup-wrap'"),
        (["word"], "ID names no patch: 'word'"),
        ([], "Missing argument"),
    ],
)
def test_refused(madeup, arguments: list[str], message: str) -> None:
    result = invoke("explain", *arguments)
    assert (result.exit_code, result.stdout) == (64, "")
    assert message in result.stderr


def test_the_json(madeup) -> None:
    given = json.loads(invoke("explain", "madeup-cast", "--json").stdout)
    assert given["schema"] == 1
    (one,) = given["patches"]
    assert list(one) == [
        "id",
        "title",
        "library",
        "headline",
        "bug",
        "fix",
        "why",
        "messages",
        "caution",
        "affects",
        "upstream",
        "targets",
        "settings",
        "opt_in",
        "switch_on",
        "requires",
        "switch_off",
        "version",
        "status",
        "reason",
        "tested",
    ]
    assert one["headline"] == "Training dies."
    assert one["requires"] == []
    assert one["targets"] == [
        {"target": "madeup.trainer:Trainer.train", "how": "rewritten", "affects": ""}
    ]


KNOWN = "ValueError: Attempting to unscale FP16 gradients."
TRACEBACK = f"""----> 3 trainer.train()

File /x/site-packages/torch/amp/grad_scaler.py:275, in GradScaler._unscale_grads_(self)
{KNOWN}
"""


@pytest.mark.parametrize("text", [TRACEBACK, f"-----\n{KNOWN}", f"-> {KNOWN}", f"- {KNOWN}"])
def test_a_text_that_begins_like_an_option(text: str) -> None:
    result = invoke("explain", text)
    assert result.exit_code == 0, result.stderr
    assert "float32" in result.stdout


def test_a_log_and_standard_input(tmp_path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"{'loss': 1.0}\n" * 400_000 + TRACEBACK.encode())
    said = invoke("explain", str(log)).stdout
    assert "float32" in said
    assert invoke("explain", "-", input=TRACEBACK).stdout == said
    log.write_bytes(TRACEBACK.encode("utf-16"))
    assert invoke("explain", str(log)).stdout == said


@pytest.mark.parametrize("text", ["ValueError: bad value 7", "ValueError", "a moon rose\n"])
def test_an_unknown_text_of_a_log_is_no_misspelled_id(tmp_path, text: str) -> None:
    log = tmp_path / "train.log"
    log.write_text(text, encoding="utf-8")
    for result in (invoke("explain", "-", input=text), invoke("explain", str(log))):
        assert result.exit_code == 1
        assert result.stderr.startswith("Nothing here knows this error.")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\x00\x01\x02PK" * 5000, "not text"),
        (b"", "empty"),
        (b"\tat com.foo.Bar.run(Bar.java:12)\n", "Java"),
        (b"a moon rose over the lake\n" * 50_000, "no error"),
    ],
)
def test_bad_input_gets_one_line(tmp_path, content: bytes, says: str) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(content)
    result = invoke("explain", str(log))
    assert (result.exit_code, result.stdout) == (64, "")
    assert says in result.stderr.splitlines()[-1]


def test_the_json_of_an_error() -> None:
    given = json.loads(invoke("explain", KNOWN, "--json").stdout)
    assert given["error"]["type"] == "ValueError"
    first = given["answers"][0]
    assert first["id"] == "unscale-float16"
    assert {patch["id"] for patch in first["patches"]} >= {"accelerate-gradscaler-guard"}
    assert "accelerate-gradscaler-guard" in {patch["id"] for patch in given["patches"]}


def test_what_was_understood_of_an_unknown_error() -> None:
    text = '  File "/x/site-packages/trl/trainer/utils.py", line 3, in pad\nFoo.BarError: Half\n'
    result = invoke("explain", text)
    assert result.exit_code == 1
    for part in ("a BarError", "trl (trl/trainer/utils.py, pad())", "Half", "Where to ask"):
        assert part in result.stderr


def test_a_report_to_paste(tmp_path) -> None:
    log = tmp_path / "train.log"
    log.write_text(
        '  File "/home/someone/x/train.py", line 3\nFooError: hf_abcdefghijklmnop at 1\n'
    )
    said = invoke("explain", "--report", str(log)).stdout
    assert "FooError: <secret> at 1" in said
    assert "Python 3." in said
    assert "someone" not in said
