"""Files of settings: other keys and values, and everything else as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from patchkit.modernize.errors import ScriptError
from patchkit.modernize.findings import ScriptOutcome
from patchkit.modernize.formats import yaml_settings
from patchkit.modernize.formats.neighbours import Neighbours
from patchkit.modernize.python import readers

from ..releases import DUE

TRAINING = "output_dir: out\nlearning_rate: 1e-4\nmax_steps: 3\n"


def sft() -> readers.Reader | None:
    return readers.of_command("sft")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("evaluation_strategy: epoch # why\n", "eval_strategy: epoch # why\n"),
        ("'evaluation_strategy'  :   \"no\"\n", "'eval_strategy'  :   \"no\"\n"),
        ("torch_dtype: bfloat16\n", "dtype: bfloat16\n"),
        ("max_seq_length: 0x40\n", "max_length: 0x40\n"),
        ("warmup_ratio: 1e-1\n", "warmup_steps: 1e-1\n"),
        ("warmup_steps: 0 # none\nwarmup_ratio: .1\n", "# none\nwarmup_steps: .1\n"),
        ("warmup_ratio: 0.0\nseed: 1\n", "seed: 1\n"),
        ("optim: 'adamw_hf'\n", "optim: 'adamw_torch'\n"),
        ("report_to:\nseed: 1\n", "report_to: all\nseed: 1\n"),
        ("overwrite_output_dir: true\n", ""),
        ("group_by_length: true\n", "train_sampling_strategy: group_by_length\n"),
        ("no_cuda: yes\r\nseed: 1\r\n", "use_cpu: yes\r\nseed: 1\r\n"),
        (
            "logging_dir: logs\n",
            "report_to: tensorboard\nenv: {TENSORBOARD_LOGGING_DIR: logs}\n",
        ),
        ("report_to: none\nlogging_dir: logs\n", "report_to: none\n"),
        (
            "split_batches: true\naccelerator_config:\n  even_batches: false\n",
            "accelerator_config: {even_batches: false, split_batches: true}\n",
        ),
        (
            "split_batches: true\naccelerator_config:\n  even_batches: false\n\n# next\n",
            "accelerator_config: {even_batches: false, split_batches: true}\n\n# next\n",
        ),
    ],
)
def test_settings(before: str, after: str) -> None:
    for text, today in (
        (before + TRAINING, after + TRAINING),
        (TRAINING + "# ü\n\n" + before, TRAINING + "# ü\n\n" + after),
    ):
        result = yaml_settings.modernize(text, DUE, sft)
        assert result.text == today
        assert len(result.findings) == 1
        assert yaml_settings.modernize(today, DUE, sft).text == today


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment\n",
        "just a text",
        "[1, 2]",
        "evaluation_strategy: epoch\n",
        "services:\n  train: {max_steps: 1}\n",
        "a: !vault x\n" + TRAINING + "no_cuda: true\n",
        "--- \na: 1\n---\n" + TRAINING + "no_cuda: true\n",
        "{output_dir: a, learning_rate: 1, max_steps: 2, no_cuda: true}",
        TRAINING + "torch_dtype: float32\nmax_seq_length: 3\n",
        TRAINING + "torch_dtype: float32\nlora_r: 3\ndataset_mixer:\n  d: 1.0\n",
        TRAINING + "model: &no_cuda x\n",
        TRAINING + "stage: sft\nfinetuning_type: lora\noverwrite_output_dir: true\n",
        TRAINING + "base_model: a/b\nmicro_batch_size: 1\nwarmup_ratio: 0.1\n",
    ],
)
def test_what_is_left_alone(text: str) -> None:
    result = yaml_settings.modernize(text, DUE)
    assert (result.text, list(result.findings)) == (text, [])


def test_what_a_person_must_decide() -> None:
    text = "# start\n" + TRAINING + "logging_dir: &logs logs\nbeta: 0.1\nmax_prompt_length: 7 # 7\n"
    result = yaml_settings.modernize(text, DUE)
    assert result.text == "# start\n" + TRAINING + (
        "# patchkit: logging_dir has been gone since Transformers 5.15.0; the environment variable "
        "TENSORBOARD_LOGGING_DIR says it\nlogging_dir: &logs logs\nbeta: 0.1\n"
        "# patchkit: left out: max_prompt_length: 7 has been gone since TRL "
        "0.29.0; in a script, patchkit.replacements.truncating(DPOTrainer, "
        "max_prompt_length=7) in the place of DPOTrainer sees to it\n# 7\n"
    )
    assert [finding.outcome for finding in result.findings] == [
        ScriptOutcome.REMARKED,
        ScriptOutcome.REMARKED,
    ]
    assert yaml_settings.modernize(result.text, DUE).text == result.text


def test_comments_in_a_block_are_not_lost() -> None:
    text = TRAINING + "split_batches: true\naccelerator_config:\n  # why\n  even_batches: false\n"
    result = yaml_settings.modernize(text, DUE)
    assert result.findings[0].outcome is ScriptOutcome.REMARKED
    assert result.text.replace(_remark(result.text), "") == text


def _remark(text: str) -> str:
    return "".join(line for line in text.splitlines(True) if line.startswith("# patchkit: "))


@pytest.mark.parametrize(
    "text", ["a: b: c", "a: [1", "\ta: 1", "a: 'x", "\x00", "a: *b", "{{ x }}: }"]
)
def test_no_yaml(text: str) -> None:
    with pytest.raises(ScriptError, match="no YAML") as caught:
        yaml_settings.modernize(text, DUE)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "parser",
    ["TrlParser((My, SFTConfig))\n", "types = [My, SFTConfig]\nTrlParser(dataclass_types=types)\n"],
)
def test_the_script_beside_says_what_reads_it(parser: str, tmp_path: Path) -> None:
    file = tmp_path / "recipes" / "a.yaml"
    file.parent.mkdir()
    file.write_text(TRAINING + "max_seq_length: 8\ntorch_dtype: auto\n")
    assert Neighbours(file).reader() is None
    (tmp_path / "run.sh").write_text("python train.py --config recipes/a.yaml\n")
    (tmp_path / "train.py").write_text(
        f"from trl import SFTConfig, TrlParser\nclass My:\n    torch_dtype: str\n{parser}"
    )
    reader = Neighbours(file).reader()
    assert reader is not None
    assert reader.own == {"torch_dtype"}
    result = yaml_settings.modernize(file.read_text(), DUE, lambda: reader)
    assert result.text == TRAINING + "max_length: 8\ntorch_dtype: auto\n"


@pytest.mark.parametrize("reads", ["held['learning_rate']", 'held.get("learning_rate", 1)'])
def test_keys_that_the_script_beside_takes_itself_stay(reads: str, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(TRAINING + "evaluation_strategy: epoch\n")
    for name, kept in {"b.yaml": False, "a.yaml": True}.items():
        (tmp_path / "train.py").write_text(f"held = yaml.load(open('{name}'))\nprint({reads})\n")
        text = yaml_settings.modernize(file.read_text(), DUE, Neighbours(file).reader).text
        assert (text == file.read_text()) is kept


PAIRS = {
    "evaluation_strategy: 'no'": "eval_strategy: 'no'",
    "no_cuda: true   # gpu": "use_cpu: true   # gpu",
    "seed: 3": "seed: 3",
    "# no_cuda: true": "# no_cuda: true",
    "": "",
    "nested:\n    no_cuda: [1,\n  2]": "nested:\n    no_cuda: [1,\n  2]",
    "text: |\n  no_cuda: x\n\n  y": "text: |\n  no_cuda: x\n\n  y",
    "'größe': \"\\u00e9\"": "'größe': \"\\u00e9\"",
}


@given(st.lists(st.sampled_from(sorted(PAIRS)), unique=True), st.sampled_from(["\n", "\r\n"]))
def test_everything_else_stays(lines: list[str], line_break: str) -> None:
    before = TRAINING + "\n".join(lines)
    after = TRAINING + "\n".join(PAIRS[line] for line in lines)
    result = yaml_settings.modernize(before.replace("\n", line_break), DUE)
    assert result.text == after.replace("\n", line_break)


@given(st.text(alphabet="ab:-[]{}#&*!|>'\"%@ \n", max_size=40))
def test_any_text_is_read(text: str) -> None:
    before = TRAINING + "no_cuda: true\n" + text
    try:
        result = yaml_settings.modernize(before, DUE)
    except ScriptError:
        return
    assert yaml_settings.modernize(result.text, DUE).text == result.text
    try:
        assert list(yaml.safe_load_all(result.text)) != [None]
    except yaml.constructor.ConstructorError:
        assert result.text == before


def test_classes_of_a_module_beside_the_script(tmp_path: Path) -> None:
    (tmp_path / "h.py").write_text(
        "from transformers import HfArgumentParser, TrainingArguments\n"
        "class H4ArgumentParser(HfArgumentParser):\n    pass\n"
        "class Own(TrainingArguments):\n    max_length: int = 4\n    warmup_ratio: float = 0.1\n"
    )
    (tmp_path / "train.py").write_text(
        "from h import H4ArgumentParser, Own\nH4ArgumentParser((Own, Other)).parse()\n"
    )
    file = tmp_path / "train.yaml"
    file.write_text("evaluation_strategy: steps\nmax_length: 3\nlearning_rate: 1e-4\n")
    text = yaml_settings.modernize(file.read_text(), DUE, Neighbours(file).reader).text
    assert text == "eval_strategy: steps\nmax_length: 3\nlearning_rate: 1e-4\n"


def test_a_parser_of_classes_that_nobody_shows_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("TrlParser((Some, Other))\n")
    assert Neighbours(tmp_path / "train.yaml").reader() is None
