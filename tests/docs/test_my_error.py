"""One source, three faces: `patchkit explain`, the page "My error", and the index of known errors."""

from __future__ import annotations

import html
import importlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from patchkit.about import shipped_table
from patchkit.catalogue import entries as catalogue
from patchkit.known.answering import (
    OF_NONE,
    Found,
    answered,
    entries_with_message,
    entries_with_symptom,
)
from patchkit.known.choosing import SHORTEST
from patchkit.known.history import ends
from patchkit.known.reading import UnreadableText, read
from patchkit.known.rows import all_rows as known_rows
from patchkit.known.wordings import squeezed, wording
from patchkit.legacy.explanation import described
from patchkit.legacy.rows import all_rows
from patchkit.modernize.history import shipped

REPOSITORY = Path(__file__).resolve().parents[2]
ENTRIES = list(catalogue.load())
CHANGES = [change for row in all_rows() if (change := described(row)) is not None]
MESSAGES = sorted(
    message
    for message in {message for entry in ENTRIES for message in entry.patch.messages}
    if not message.startswith(OF_NONE)  # These take a traceback.
)
ERRORS = sorted({error for change in CHANGES for error in change.errors})
WORDINGS = list(dict.fromkeys(said for row in known_rows() for said in row.says))
EXAMPLES = [wording(said).example() for said in WORDINGS]
SYMPTOMS_IN_WORDS = re.findall(
    r'^- text: "(.+)"$',
    (REPOSITORY / "tests" / "known" / "reports" / "symptoms.yaml").read_text(encoding="utf-8"),
    re.MULTILINE,
)
OF_CODE_OF_OTHERS = [
    wording(said).example()
    for row in known_rows()
    if row.where
    for said in row.says[: None if row.where == "elsewhere" else 1]
]
BY_OTHERS = """Traceback (most recent call last):
  File "/home/someone/seg/train.py", line 9, in <module>
  File "/home/someone/seg/datasets/own.py", line 42, in forward
RuntimeError: {error}
"""
ONE_OF_EACH_ROW = [wording(row.says[0]).example() for row in known_rows() if row.says]

TRACEBACK = """Traceback (most recent call last):
  File "/home/someone/train.py", line 31, in <module>
    trainer.train()
  File "/home/someone/.venv/lib/python3.11/site-packages/transformers/trainer.py", line 2325, in train
    return inner_training_loop(
           ^^^^^^^^^^^^^^^^^^^^
SomeError: {error}
  0%|          | 0/10 [00:01<?, ?it/s]
"""
# What else a log of 4-bit training holds, which loose symptoms would take for theirs.
LOG = 'bnb_4bit_quant_storage: "uint8"\nweights are floating point\n{error}\n'


def matching(pattern: str) -> list[str]:
    """Return texts that a symptom matches, the same in each run."""
    found: list[str] = []

    @settings(max_examples=8, derandomize=True, database=None, suppress_health_check=[*HealthCheck])
    @given(st.from_regex(pattern, fullmatch=True, alphabet=st.characters(codec="ascii")))
    def collect(text: str) -> None:
        found.append(text)

    collect()
    return sorted(set(found))


SYMPTOMS = {
    entry.patch.id: matching(entry.patch.symptom) for entry in ENTRIES if entry.patch.symptom
}
# As they stand on a screen, and the page that they must lead to.
QUOTED = {
    "TypeError: modules_to_save cannot be applied to modules of type <class 'peft.tuners.lora.layer.Linear'>": "families/index.html#what-fails-both-ways",
    "AttributeError: 'MusicgenConfig' object has no attribute 'dropout'": "families/index.html#no-tiny-model",
    "ImportError: Found an incompatible version of torchao. Found version 0.15.0": "doctor/index.html#versions-known-not-to-work-together",
    "ModuleNotFoundError: No module named 'requests'": "doctor/index.html#versions-known-not-to-work-together",
    "DoRA magnitudes do not learn": "errors/index.html#dora-magnitudes-do-not-learn",
}
RARE = ("nemo-automodel", "unsloth")
OWN_WORDS = (
    "GoneError: train.py:3: trl.DDPOTrainer has been gone since TRL 0.24.0. It trains none any more."
    " Versions that have it: pip install trl==0.23.1",
    "patchkit: train.py:31: SFTTrainer(tokenizer=) has been gone since TRL 0.16.0; write one=",
)
"""What the legacy layer says of old spellings that it refuses or replaces."""
UNKNOWN = ("KeyError: 'nothing of it'", "the moon is full, and so is the harbour", "Traceback")


@pytest.fixture(scope="module")
def ask(site: Path) -> Iterator[Callable[..., list[list[dict[str, Any]]]]]:
    """`ask(texts)`: what the page answers to each. As a reader does, one page is asked everything."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("the page is JavaScript, and node is not installed")
    folder = site / "javascripts"
    program = [node, str(Path(__file__).with_name("answers.js"))]
    scripts = ("my_error_data.js", "find_names.js", "find_answers.js")
    program += [str(folder / script) for script in scripts]

    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as page:
        assert page.stdin is not None
        assert page.stdout is not None

        def ask(texts: list[str]) -> list[list[dict[str, Any]]]:
            print(json.dumps(texts), file=page.stdin, flush=True)
            return list(json.loads(page.stdout.readline()))

        yield ask


def names(answers: list[dict[str, Any]], kind: str, key: str) -> list[str]:
    return [answer[key] for answer in answers if answer["kind"] == kind]


def wrapped(text: str, width: int, begin: str = "", end: str = "\n") -> str:
    """Break a text as a narrow terminal does, within words, too."""
    lines = [text[start : start + width] for start in range(0, len(text), width)]
    return end.join(begin + line for line in lines)


def in_traceback(error: str) -> str:
    return TRACEBACK.format(error=error.removeprefix("SomeError: "))


# What becomes of an error on its way from a program to the box.
PASTED: dict[str, Callable[[str], str]] = {
    "Windows": lambda text: in_traceback(text).replace("\n", "\r\n"),
    "colours": lambda text: (
        f"\x1b[1;35mSomeError\x1b[0m: \x1b[35m{text.removeprefix('SomeError: ').replace(' ', chr(27) + '[0m ')}\x1b[0m"
    ),
    "link": lambda text: f"\x1b]8;;file://train.py\x1b\\{text}\x1b]8;;\x1b\\",
    "wrapped": lambda text: wrapped(text, 60),
    "wrapped on Windows": lambda text: wrapped(text, 60, end="\r\n"),
    "ranks": lambda text: in_traceback(text).replace("\n", "\n[rank0]: "),
    "ranks, wrapped": lambda text: wrapped(text, 50, "[rank1]:"),
    "torchrun": lambda text: wrapped(text, 50, "[default0]:[rank0]: "),
    "times": lambda text: wrapped(text, 50, "2026-11-22T18:04:20.123Z "),
    "logging": lambda text: f"[2026-11-22 18:04:20,123] {text}",
    "Ray": lambda text: wrapped(text, 50, "(RayTrainWorker pid=4242, ip=10.0.0.1) "),
    "mail": lambda text: wrapped(text, 50, "> > "),
    "a box of rich": lambda text: wrapped(text, 50, "| "),
    "HTML": lambda text: html.escape(text),
    "HTML by number": lambda text: text.replace('"', "&#34;").replace("'", "&#39;"),
    "typographic": lambda text: re.sub(r"'([^']*)'", "\u2018\\1\u2019", text).replace(
        '"', "\u201c"
    ),
    "shell": lambda text: text.replace('"', "").replace("'", ""),
    "Markdown": lambda text: f"`{text}`",
    "blanks": lambda text: f"  {text.replace(' ', '   ')}\n\n",
}


@cache
def of_command(text: str) -> Found:
    """Return what `patchkit explain` knows of a text, where nothing is installed."""
    return answered(read(text), lambda _: None)


@cache
def expected(text: str) -> tuple[list[str], list[str]]:
    """Return the answers and patches that `patchkit explain` gives; patches as the page sorts them."""
    pasted = read(text)
    found = of_command(text)
    patches = entries_with_message(pasted, ENTRIES)
    known = [answer.id for answer in found.answers]
    if patches and found.by_name:
        known = []
    if not known and not patches:
        patches = entries_with_symptom(pasted, ENTRIES)
    patches.sort(key=lambda entry: (bool(entry.patch.opt_in), entry.patch.library in RARE))
    return known, [entry.patch.id for entry in patches]


def answers_of(answers: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    return names(answers, "known", "id"), names(answers, "patch", "id")


def index_of(site: Path) -> dict[str, list[list[str]]]:
    """Return the causes that the index of known errors gives first, by the message as it is shown."""
    page = (site / "known-errors" / "index.html").read_text(encoding="utf-8")
    found: dict[str, list[list[str]]] = {}
    for message, causes in re.findall(r"(?s)<tr>\s*<td>(.*?)</td>\s*<td>(.*?)</td>", page):
        shown = html.unescape(re.sub(r"<[^>]+>", "", message)).replace("\\|", "|")
        first = causes.partition("with more of the traceback")[0]
        found.setdefault(shown, []).append(re.findall(r'href="#([^"]+)"', first))
    return found


def test_all_three_give_each_message_the_same_causes(ask, site: Path) -> None:
    ids = {row.id for row in known_rows()}
    index = index_of(site)
    assert len(WORDINGS) > 1000
    for said, text, answers in zip(WORDINGS, EXAMPLES, ask(EXAMPLES), strict=True):
        known, patches = expected(text)
        assert answers_of(answers) == (known, patches), text
        shown = " ".join(wording(said).shown().split())
        assert [name for name in known if name in ids] in index[shown], said


@pytest.mark.parametrize("shape", ["{error}", TRACEBACK, LOG], ids=["error", "traceback", "log"])
def test_every_message_of_a_patch_finds_what_the_command_finds(ask, shape: str) -> None:
    asked = [shape.format(error=text) for text in MESSAGES]
    for text, answers in zip(asked, ask(asked), strict=True):
        assert answers_of(answers) == expected(text), text


# Which rows a text finds and how the text around it is read do not depend on each other: examples
# by themselves are asked above, and one of each row is asked in one of the shapes.
@pytest.mark.parametrize(
    ("texts", "shapes"),
    [
        (ERRORS, ("{error}", TRACEBACK, LOG)),
        (ONE_OF_EACH_ROW, (TRACEBACK, LOG)),
        (OF_CODE_OF_OTHERS, (BY_OTHERS, BY_OTHERS, BY_OTHERS.replace("forward", "<module>"))),
        (SYMPTOMS_IN_WORDS, ("{error}",)),
    ],
    ids=["changes", "examples", "code of others", "symptoms"],
)
def test_every_error_finds_what_the_command_finds(
    ask, texts: list[str], shapes: tuple[str, ...]
) -> None:
    asked = [shape.format(error=text) for text, shape in zip(texts, cycle(shapes), strict=False)]
    for text, answers in zip(asked, ask(asked), strict=True):
        assert answers_of(answers) == expected(text), text


@pytest.mark.parametrize("way", PASTED)
def test_every_error_is_found_however_it_was_pasted(ask, way: str) -> None:
    # A name that was broken cannot be put together again; messages are found all the same.
    breaks_words = "x" * 100 not in PASTED[way]("x" * 100)
    errors = [
        f"SomeError: {text}" for text in (MESSAGES if breaks_words else MESSAGES + ERRORS[::12])
    ]
    asked = [PASTED[way](text) for text in errors]
    for plain, text, answers in zip(errors, asked, ask(asked), strict=True):
        assert answers_of(answers) == expected(text), text
        assert any(expected(text)), text
        if not breaks_words:  # The files of a traceback may point to other causes.
            assert expected(text)[1] == expected(plain)[1], text


def test_a_shortened_message_leads_to_its_patch(ask) -> None:
    asked = [(text, text[: max(24, len(text) * 2 // 3)]) for text in MESSAGES]
    for (message, text), answers in zip(asked, ask([text for _, text in asked]), strict=True):
        known, patches = answers_of(answers)
        assert (known, patches) == expected(text), text
        assert len(squeezed(text)) < SHORTEST or known or patches, message


def test_the_message_of_a_patch_leads_to_it(ask) -> None:
    for message, answers in zip(MESSAGES, ask(MESSAGES), strict=True):
        raising = {entry.patch.id for entry in ENTRIES if message in entry.patch.messages}
        assert raising <= set(names(answers, "patch", "id")), message


def test_each_symptom_leads_to_its_patch(ask) -> None:
    asked = [
        (patch, case)
        for patch, texts in SYMPTOMS.items()
        for text in texts
        for case in (text, text.upper())
    ]
    assert {patch for patch, _ in asked} == {entry.patch.id for entry in ENTRIES}
    for (patch, text), answers in zip(asked, ask([text for _, text in asked]), strict=True):
        try:
            known, patches = expected(text)
        except UnreadableText:
            known = patches = []
        assert answers_of(answers) == (known, patches), text
        # A text that is also another's message, or a known error, is answered by that alone.
        assert patch in patches or known or not patches or entries_with_message(read(text), ENTRIES)


def test_the_error_of_an_old_spelling_leads_to_it(ask) -> None:
    for error, answers in zip(ERRORS, ask(ERRORS), strict=True):
        right = {change.old for change in CHANGES if error in change.errors}
        keyword = re.search(r"unexpected keyword argument '(\w+)'", error)
        known = names(answers, "known", "id")
        found = right & set(known)
        of_keyword = keyword and any(f"({keyword[1]}=)" in name for name in known)
        by_row = keyword and any(keyword[1] in name for name in names(answers, "known", "cause"))
        assert found or of_keyword or by_row, error


def test_what_the_legacy_layer_says_leads_to_its_row(ask) -> None:
    for text, found in zip(OWN_WORDS, ask([*OWN_WORDS]), strict=True):
        said = of_command(text).answers[0]
        (own,) = (answer for answer in found if answer["kind"] == "known")
        assert (own["cause"], own["do"]) == (said.cause, said.do)
        assert tuple(own["links"]) == said.links != ()


OLD_GPU = "RuntimeError: FlashAttention only supports Ampere GPUs or newer."
LACKS = "NameError: name 'ParallelismConfig' is not defined"
THROUGH = """Traceback (most recent call last):
  File "/x/site-packages/{name}/train.py", line 7, in run
  File "/x/site-packages/flash_attn/flash.py", line 7, in run
{error}"""
IN_SENTENCES = (
    f"swift sft stops: {LACKS}",
    f"\u8bad\u7ec3\u65f6\u62a5\u9519\uff1a{OLD_GPU}",
    "LLaMA-Factory\u5fae\u8c03\u65f6loss\u4e00\u76f4\u4e0d\u4e0b\u964d",
    "I get KeyError: 'lm_head.weight' How can I fix it?",
)


def test_the_page_speaks_as_a_framework_does(ask) -> None:
    names = shipped_table("known/frameworks.json")
    errors = (OLD_GPU, LACKS, "'LLMEngine' object has no attribute 'model_executor'")
    through = [THROUGH.format(name=name, error=error) for name in names for error in errors]
    asked = [*through, *IN_SENTENCES]
    for text, answers in zip(asked, ask(asked), strict=True):
        said = of_command(text).answers
        shown = [answer for answer in answers if answer["kind"] == "known"]
        assert [answer.do for answer in said] == [answer["do"] for answer in shown] != [], text
        assert [list(answer.write) for answer in said] == [answer["write"] for answer in shown]


def outside_of_releases() -> list[str]:
    """Return errors of names and keywords that some releases have, and others do not."""
    errors = []
    for library, known in shipped().libraries.items():
        owned = {
            f"cannot import name '{name}' from '{'.'.join(filter(None, (library, module)))}'": there
            for module, names_of_it in known.names.items()
            for name, there in names_of_it.items()
        }
        owned |= {
            f"{owner}.__init__() got an unexpected keyword argument '{keyword}'": there
            for owner, keywords in known.keywords.items()
            for keyword, there in keywords.items()
        }
        some = [error for error, there in owned.items() if any(ends(known.releases, there))]
        for error in some[:: max(1, len(some) // 30)]:
            versions = (known.releases[0], known.releases[-1])
            errors += [error, *(f"{error}\n\n{library} version: {version}" for version in versions)]
    return errors


def test_the_page_knows_what_the_releases_had(ask) -> None:
    asked = outside_of_releases()
    assert len(asked) > 200
    kinds = set()
    for text, answers in zip(asked, ask(asked), strict=True):
        assert answers_of(answers) == expected(text), text
        found = of_command(text)
        for said, shown in zip(found.answers, answers, strict=False):
            if " came with " in said.cause and "gone since" not in said.cause:
                kinds.add("not yet")
                assert shown["cause"] == said.cause, text
                assert (shown["do"], shown["write"]) == (said.do, list(said.write)), text
            if " left " in said.cause and "gone since" not in said.cause:
                kinds.add("gone")
                assert shown["cause"] == said.cause, text
    assert kinds == {"not yet", "gone"}


OF_NAMES = re.compile("cannot import name|No module named|has no attribute|unexpected keyword")
NO_NAME = "ImportError: cannot import name '{}' from '{}'"
NO_KEYWORD = "TypeError: {}.__init__() got an unexpected keyword argument '{}'"
THROUGH_FILE = """Traceback (most recent call last):
  File "/home/someone/train.py", line 3, in <module>
  File "/x/site-packages/{asks}/file.py", line 7, in {function}
{error}"""
GIVEN = ("beta", "train_dataset", "max_seq_length", "learning_rat", "lora_alpha", "own", "seed")
"""Settings that one class or another takes, in some releases or in all."""
CLASSES = (
    "TrainingArguments",
    "SFTConfig",
    "SFTTrainer",
    "LoraConfig",
    "MyTrainer",
    "OwnArguments",
)


def texts_of_names() -> list[str]:
    """Return errors of names and keywords: reported ones, those of the history, and made up ones."""
    folder = REPOSITORY / "tests" / "known" / "reports"
    reports = [
        report["text"]
        for file in sorted(folder.glob("*.yaml"))
        for report in yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)
        if OF_NAMES.search(report["text"])
    ]
    made = [NO_KEYWORD.format(owner, keyword) for owner in CLASSES for keyword in GIVEN]
    made += [NO_NAME.format(name, "diffusers") for name in ("FLUXPipeline", "Own")]
    made.append(NO_NAME.format("smp_gather", "transformers.trainer_pt_utils"))  # only a row says so
    for library, known in shipped().libraries.items():
        top = list(known.names.get("", ()))
        ours = [top[0], f"{top[0]}s", top[0].swapcase(), "LoraConfig", "OwnForCausalLM", "own"]
        lacking = [
            name
            for name, there in known.names.get("", {}).items()
            if there < {*known.releases} and not any(ends(known.releases, there))
        ]
        made += [NO_NAME.format(name, library) for name in ours + lacking[:2]]
        made += [NO_NAME.format(name, f"{library}.utils") for name in ours]
        always = sorted(known.always)[:: max(1, len(known.always) // 5)]
        made += [NO_NAME.format(name, library) for name in always if "." not in name]
        made += [f"No module named '{library}.{name}'" for name in [*always, *known.modules][:9]]
        owners = [owner for owner in known.keywords if owner[:1].isupper() and "." not in owner]
        for owner in owners[:: max(1, len(owners) // 8)]:
            for keyword in list(known.keywords[owner])[:2]:
                made += [NO_KEYWORD.format(owner, keyword), NO_KEYWORD.format(owner, f"{keyword}s")]
                made.append(f"__init__() got an unexpected keyword argument '{keyword}'")
        version = known.releases[len(known.releases) // 2]
        made += [f"{error}\n\n{library} version: {version}" for error in made[-20:]]
    asking = ("setfit", "unsloth", "llamafactory", "transformers_modules", "transformers", "trl")
    functions = cycle(("<module>", "run"))
    through = [
        THROUGH_FILE.format(asks=asks, function=function, error=error)
        for error, asks, function in zip(made[::3], cycle(asking), functions, strict=False)
    ]
    return [*reports, *outside_of_releases(), *made, *through]


def test_the_page_says_of_names_what_the_command_says(ask) -> None:
    asked = list(dict.fromkeys(texts_of_names()))
    causes = []
    for text, answers in zip(asked, ask(asked), strict=True):
        assert answers_of(answers) == expected(text), text
        for said in of_command(text).answers if expected(text)[0] else ():
            shown = next(answer for answer in answers if answer["id"] == said.id)
            told = tuple(shown[key] for key in ("cause", "do", "whose"))
            assert told == (said.cause, said.do, said.whose), text
            assert tuple(shown.get("write", ())) == said.write, text
            causes.append(said.cause)
    for case, texts in shipped_table("known/names.json").items():
        if cause := re.sub(r"\\{\w+\\}", ".*", re.escape(texts.get("cause", ""))):
            assert any(re.fullmatch(cause, one) for one in causes), f"nothing is asked of {case!r}"


@pytest.mark.parametrize("error", QUOTED)
def test_a_quoted_error_leads_to_its_page(ask, error: str) -> None:
    (answers,) = ask([error])
    assert QUOTED[error] in names(answers, "quoted", "page")


# What stands around an error without a message of its own.
BARE = (
    '  File "/x/bitsandbytes/functional.py", line 998, in f\n'
    "    assert absmax is not None and out is not None\n           ^^^^^^\nAssertionError\n",
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
    "=====================\ntrain.py FAILED\n---------------------\n"
    "Root Cause (first observed failure):\n[0]:\n  exitcode  : -9 (pid: 1234)\n",
)


def test_an_error_without_a_message_is_found_by_what_stands_around_it(ask) -> None:
    for text, answers in zip(BARE, ask(list(BARE)), strict=True):
        assert answers_of(answers) == expected(text), text
        assert expected(text)[0], text


def test_an_unknown_error_has_no_answer(ask) -> None:
    assert ask([*UNKNOWN, ""])[:-1] == [[]] * len(UNKNOWN)


def test_every_answer_leads_somewhere(site: Path) -> None:
    text = (site / "javascripts" / "my_error_data.js").read_text(encoding="utf-8")
    data = json.loads(text.partition("=")[2].rstrip(";\n"))
    pages: dict[str, str] = {}
    for row in (*data["patches"], *data["rows"], *data["quoted"]):
        page, _, anchor = row["page"].partition("#")
        content = pages.setdefault(page, (site / page).read_text(encoding="utf-8"))
        assert not anchor or f'id="{anchor}"' in content, row["page"]
    code = (site / "javascripts" / "my_error.js").read_text(encoding="utf-8")
    for page in re.findall(r'"(\S+\.html)"', code):
        assert (site / page).exists()


def test_what_javascript_lacks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mkdocs")
    monkeypatch.syspath_prepend(str(REPOSITORY / "docs_site"))
    in_javascript = importlib.import_module("my_error_page").in_javascript
    assert in_javascript("a(?:b|c)+(?P<x>a)") == "a(?:b|c)+(?<x>a)"
    for pattern in (r"\Aa", "(?P=x)", "(?i)a", "a++", "(?>a)"):
        with pytest.raises(ValueError, match="JavaScript"):
            in_javascript(pattern)
