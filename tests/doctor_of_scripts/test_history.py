"""The shipped history: its form, and what is known of releases from elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from patchkit.legacy.changes import Gone, Moved
from patchkit.legacy.rows import all_rows
from patchkit.legacy.versions import releases as versions
from patchkit.legacy.versions.releases import FILE
from workbench.releases.interface import LIBRARIES
from workbench.releases.timeline import SCHEMA

MOST = 300_000


def test_form(history) -> None:
    content = json.loads(FILE.read_text())
    assert content.pop("schema") == SCHEMA
    assert set(content) == set(LIBRARIES)
    assert FILE.stat().st_size < MOST
    released = versions.releases()
    for library, known in content.items():
        assert history.releases(library) == released[library]
        for groups in (known["modules"], *known["names"].values(), *known["keywords"].values()):
            for releases, names in groups.items():
                assert names.split() == sorted(set(names.split())), releases


def test_each_name_has_releases(history) -> None:
    for library in history.libraries.values():
        for names in (library.modules, *library.names.values(), *library.keywords.values()):
            assert all(names.values())


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("trl.GRPOTrainer", "0.14.0", "1.16.0"),
        ("trl.ORPOTrainer", "0.8.2", "0.28.0"),
        ("trl.PPOTrainer", "0.7.0", "0.28.0"),
        ("trl.DataCollatorForCompletionOnlyLM", "0.7.0", "0.19.1"),
        ("trl.DPOConfig", "0.9.2", "1.16.0"),
        ("trl.setup_chat_format", "0.7.10", "0.25.1"),
        ("trl.AlignPropTrainer", "0.9.6", "0.23.1"),
        ("trl.trainer.utils.DPODataCollatorWithPadding", "0.7.0", "0.26.2"),
        ("trl.commands.cli_utils", "0.8.0", "0.12.2"),
        ("trl.experimental.orpo", "0.26.0", "1.16.0"),
        ("transformers.AutoModelForCausalLM", "4.36.0", "5.23.0"),
        ("transformers.AutoModelForVision2Seq", "4.36.0", "4.57.6"),
        ("transformers.AdamW", "4.36.0", "4.49.0"),
        ("transformers.Qwen3ForCausalLM", "4.51.0", "5.23.0"),
        ("transformers.T5TokenizerFast", "4.36.0", "5.23.0"),
        ("transformers.deepspeed", "4.36.0", "4.45.2"),
        ("peft.prepare_model_for_int8_training", "0.6.0", "0.9.0"),
        ("peft.LoraConfig", "0.6.0", "0.21.2"),
        ("peft.BoneConfig", "0.14.0", "0.18.1"),
        ("accelerate.Accelerator", "0.25.0", "1.15.0"),
    ],
)
def test_names(history, name: str, first: str, last: str) -> None:
    library = name.partition(".")[0]
    there = history.place(name)
    ordered = [
        release
        for release in history.releases(library)
        if release in (there or history.releases(library))
    ]
    assert (ordered[0], ordered[-1]) == (first, last)


@pytest.mark.parametrize(
    ("owner", "keyword", "library", "first", "last"),
    [
        ("trl.SFTTrainer", "processing_class", "trl", "0.12.0", "1.16.0"),
        ("trl.SFTTrainer", "tokenizer", "trl", "0.7.0", "0.15.2"),
        ("trl.SFTTrainer", "max_seq_length", "trl", "0.7.0", "0.12.2"),
        ("trl.SFTConfig", "max_seq_length", "trl", "0.9.2", "0.19.1"),
        ("trl.DPOTrainer", "beta", "trl", "0.7.0", "0.12.2"),
        ("trl.DPOConfig", "max_prompt_length", "trl", "0.9.2", "0.28.0"),
        (
            "transformers.TrainingArguments",
            "evaluation_strategy",
            "transformers",
            "4.36.0",
            "4.50.3",
        ),
        ("transformers.TrainingArguments", "eval_strategy", "transformers", "4.41.0", "5.23.0"),
        ("trl.SFTConfig", "warmup_ratio", "transformers", "4.36.0", "5.14.1"),
        ("accelerate.Accelerator", "dispatch_batches", "accelerate", "0.25.0", "0.34.2"),
    ],
)
def test_keywords(history, owner: str, keyword: str, library: str, first: str, last: str) -> None:
    name = owner.partition(".")[2]
    known = history.libraries[owner.partition(".")[0]].keywords[name]
    with_class = {release for releases in known.values() for release in releases}
    there: set[str] = set()
    for together in history.keyword(owner, keyword) or ():
        # A release without the class says nothing of its keywords.
        if any(
            release in with_class for release in together.get(owner.partition(".")[0], with_class)
        ):
            there.update(together.get(library, ()))
    ordered = [release for release in history.releases(library) if release in there]
    assert (ordered[0], ordered[-1]) == (first, last)


def test_the_table_agrees(history) -> None:
    seen = 0
    for row in all_rows():
        library, _, number = row.gone.partition(" ")
        if not isinstance(row, Moved | Gone) or row.name.count(".") > 1:
            continue
        there = history.place(row.name)
        if there and number in history.releases(library):
            seen += 1
            assert number not in there, row.name
            releases = history.releases(library)
            assert releases[releases.index(number) - 1] in there, row.name
    assert seen > 200


def test_what_no_release_has(history) -> None:
    assert history.place("trl.SFTTrainerr") == frozenset()
    assert history.keyword("trl.SFTTrainer", "tokeniser") == []
    assert history.place("torch.nn") is None
    assert history.keyword("transformers.PreTrainedModel.from_pretrained", "num_labels") is None


def test_a_release_that_is_not_in_it_counts_as_the_one_before(history) -> None:
    assert history.nearest("trl", "1.17.0.dev0") == "1.16.0"
    assert history.nearest("trl", "0.24.0+local") == "0.24.0"
    assert history.nearest("trl", "0.4.7") == "0.7.0"


def test_only_scripts_load_it() -> None:
    code = (
        "import sys, patchkit; from patchkit.cli.doctor import diagnose; str(diagnose(quick=True)); "
        "sys.exit('patchkit.modernize.history' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_heavy_is_imported(script) -> None:
    path = script("from trl import SFTTrainer\nSFTTrainer('model', tokenizer=None)\n")
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from patchkit.cli.doctor.scripts import examine\n"
        f"examine([Path({str(path)!r})])\n"
        "heavy = {'torch', 'transformers', 'trl', 'libcst', 'rich'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
