"""Lines of a shell: flags of trainings, and everything else as it was."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchkit.modernize.findings import Modernized, ScriptOutcome
from patchkit.modernize.formats import shell
from patchkit.modernize.formats.words import commands

from ..releases import DUE

TRL = "from trl import SFTConfig, ModelConfig, TrlParser\nTrlParser((SFTConfig, ModelConfig))\n"
OWN = (
    "from dataclasses import dataclass\nimport transformers\n\n"
    "@dataclass\nclass Model:\n    torch_dtype: str = 'auto'\n    max_seq_length: int = 512\n\n"
    "@dataclass\nclass TrainingArguments(transformers.TrainingArguments):\n    no_cuda: bool = True\n"
    "    warmup_ratio: float = 0.1\n\n"
    "transformers.HfArgumentParser((Model, TrainingArguments)).parse_args_into_dataclasses()\n"
)
ARGPARSE = "from argparse import ArgumentParser\np = ArgumentParser()\n"
SCRIPTS = {"train.py": TRL, "own.py": OWN, "plain.py": ARGPARSE, "tools/train.py": TRL}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("trl sft --max_seq_length 64", "trl sft --max_length 64"),
        ("trl sft --max_seq_length=64 -x", "trl sft --max_length=64 -x"),
        ("trl sft --max-seq-length 64", "trl sft --max-length 64"),
        ("trl sft --max_seq_length $N", "trl sft --max_length $N"),
        ("trl sft --warmup_ratio {ratio}", "trl sft --warmup_steps {ratio}"),
        ("python -m trl sft --bf16", "python -m trl sft --bf16 True"),
        ("trl sft --bf16 True", "trl sft --bf16 True"),
        ("trl sft --bf16=true --use_peft", "trl sft --bf16=true --use_peft"),
        ("trl sft --group_by_length", "trl sft --train_sampling_strategy group_by_length"),
        ("trl sft --group_by_length False --x 1", "trl sft --x 1"),
        ('trl sft --evaluation_strategy "no" # why', 'trl sft --eval_strategy "no" # why'),
        ("trl sft --save_safetensors --seed 1", "trl sft --seed 1"),
        (
            "trl sft \\\n  --no_cuda \\\n  --use_ipex True \\\n  --save_safetensors True\n",
            "trl sft \\\n  --use_cpu\n",
        ),
        ("trl sft --warmup_steps 0 --warmup_ratio 0.1", "trl sft --warmup_steps 0.1"),
        ("trl sft --optim adamw_hf", "trl sft --optim adamw_torch"),
        ("trl sft --report_to none", "trl sft --report_to none"),
        (
            "trl dpo --rpo_alpha 0.5",
            "trl dpo --loss_type sigmoid sft --loss_weights 1.0 0.5",
        ),
        (
            "trl sft --split_batches True",
            """trl sft --accelerator_config '{"split_batches": true}'""",
        ),
        (
            "trl sft --logging_dir a/b",
            "TENSORBOARD_LOGGING_DIR=a/b trl sft --report_to tensorboard",
        ),
        ("trl sft --logging_dir a/b --report_to wandb", "trl sft --report_to wandb"),
        (
            "trl sft --max_seq_len 8 --evaluation_strat no",
            "trl sft --max_length 8 --eval_strategy no",
        ),
        ("trl sft --max-seq-len=8", "trl sft --max-length=8"),
        ("trl sft --per_device_train 8 --max 8", "trl sft --per_device_train 8 --max 8"),
        (
            "A=1 trl chat --model_name_or_path m && echo trl chat\n",
            "# patchkit: trl chat has been gone since TRL 0.19.0. `transformers chat` talks to a model "
            "that `transformers serve` serves.\nA=1 trl chat --model_name_or_path m && echo trl chat\n",
        ),
        ("if x; then trl sft --bf16; fi", "if x; then trl sft --bf16 True; fi"),
        ("A=1 nohup trl sft --bf16 > log 2>&1 &", "A=1 nohup trl sft --bf16 True > log 2>&1 &"),
        ("python train.py --torch_dtype auto", "python train.py --dtype auto"),
        ("accelerate launch --cpu train.py --bf16", "accelerate launch --cpu train.py --bf16 True"),
        (
            "torchrun --nproc 2 tools/train.py --bf16",
            "torchrun --nproc 2 tools/train.py --bf16 True",
        ),
        (
            "python -m torch.distributed.run train.py --bf16",
            "python -m torch.distributed.run train.py --bf16 True",
        ),
        (
            "python own.py --no_cuda --torch_dtype auto",
            "python own.py --use_cpu --torch_dtype auto",
        ),
        ("python own.py --warmup_ratio 0 --no_cuda", "python own.py --warmup_ratio 0 --use_cpu"),
        ("python trl/scripts/sft.py --bf16", "python trl/scripts/sft.py --bf16 True"),
        ('A="--no_cuda --seed 1"\ntrl sft $A', 'A="--use_cpu --seed 1"\ntrl sft $A'),
        ("A='--save_safetensors\n  --no_cuda'\ntrl sft ${A}", "A='\n  --use_cpu'\ntrl sft ${A}"),
        (
            'ARGS=(\n  --no_cuda # gpu\n  --bf16\n)\ntrl sft "${ARGS[@]}" && trl dpo "${ARGS[@]}"',
            'ARGS=(\n  --use_cpu # gpu\n  --bf16 True\n)\ntrl sft "${ARGS[@]}" && trl dpo "${ARGS[@]}"',
        ),
        (
            "python unseen.py --output_dir o --learning_rate 1 --max_steps 2 --no_cuda",
            "python unseen.py --output_dir o --learning_rate 1 --max_steps 2 --use_cpu",
        ),
    ],
)
def test_flags_of_trainings(before: str, after: str) -> None:
    result = shell.modernize(before, DUE, SCRIPTS.get)
    assert result.text == after
    assert bool(result.findings) is (before != after)
    assert shell.modernize(after, DUE, SCRIPTS.get).text == after


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n# python train.py --torch_dtype auto\n",
        "echo python train.py --torch_dtype auto",
        "pip install trl sft --no_cuda",
        "python plain.py --evaluation_strategy no --bf16 --output_dir o --seed 1 --max_steps 2",
        "python unseen.py --evaluation_strategy no --bf16",
        "python own.py --torch_dtype auto --max_seq_length 512",
        "python own.py --bf16",
        "trl vllm-serve --model x --dtype auto",
        "cat > x.sh <<EOF\ntrl sft --bf16\nEOF\n",
        "trl 'sft --bf16",
        "trl sft --torch_dtype_of_mine auto",
        "vi train.py --torch_dtype auto",
        'A="--no_cuda"\npython plain.py $A',
        "python src/train.py --stage sft --finetuning_type lora --output_dir o --max_steps 2 "
        "--save_steps 1 --overwrite_output_dir",
    ],
)
def test_what_is_left_alone(text: str) -> None:
    assert shell.modernize(text, DUE, SCRIPTS.get) == Modernized(text, [])


def test_a_setting_without_a_counterpart_is_told_above_the_command() -> None:
    before = "set -e\r\n  trl dpo --max_prompt_length 128 \\\r\n    --beta 0.1\r\n"
    result = shell.modernize(before, DUE)
    assert result.text == (
        "set -e\r\n  # patchkit: left out: --max_prompt_length 128 has been gone since TRL "
        "0.29.0; in a script, patchkit.replacements.truncating(DPOTrainer, "
        "max_prompt_length=128) in the place of DPOTrainer sees to it\r\n"
        "  trl dpo \\\r\n    --beta 0.1\r\n"
    )
    assert [(finding.line, finding.outcome) for finding in result.findings] == [
        (2, ScriptOutcome.REMARKED)
    ]
    assert shell.modernize(result.text, DUE).text == result.text


@pytest.mark.parametrize("quote", ["'", ""])
def test_python_that_is_fed_to_a_command(quote: str) -> None:
    before = (
        f"cat > $X <<{quote}END{quote}\nfrom trl import SFTTrainer\nt = SFTTrainer(m, args=a, "
        "tokenizer=t)\nEND\npython $X\ncat <<Y\nimport of $goods, tokenizer=\nY\n"
    )
    result = shell.modernize(before, DUE)
    assert result.text == before.replace("tokenizer=t", "processing_class=t")
    assert [finding.line for finding in result.findings] == [3]


def test_what_stays_gets_one_remark() -> None:
    result = shell.modernize("trl dpo --reference_free True\n", DUE)
    assert result.findings[0].outcome is ScriptOutcome.GONE
    assert result.text.startswith(
        "# patchkit: --reference_free has been gone since TRL 0.29.0. CPO"
    )
    assert result.text.endswith("\ntrl dpo --reference_free True\n")
    assert shell.modernize(result.text, DUE).text == result.text


def test_each_remark_stands() -> None:
    before = "trl dpo --max_prompt_length 1 --max_completion_length 2"
    lines = shell.modernize(before, DUE).text.splitlines()
    assert [line.split()[4] for line in lines[:2]] == [
        "--max_completion_length",
        "--max_prompt_length",
    ]
    assert lines[2] == "trl dpo"


def test_both_names_are_left_to_a_person() -> None:
    result = shell.modernize("trl sft --max_seq_length 1 --max_length 2", DUE)
    assert result.findings[0].outcome is ScriptOutcome.REMARKED
    assert result.text.endswith("\ntrl sft --max_seq_length 1 --max_length 2")
    same = shell.modernize("trl sft --max_seq_length 2 --max_length 2", DUE)
    assert same.text == "trl sft --max_length 2"


@given(st.text(alphabet="tpy sf-=_b16\"'\\\n#$(){}`;&|<>EOF\r\t", max_size=60))
def test_any_text_is_read(text: str) -> None:
    for words in commands(text):
        assert all(text[word.start : word.end] == word.raw for word in words)
    result = shell.modernize(text, DUE)
    assert shell.modernize(result.text, DUE).text == result.text


@given(st.lists(st.text(alphabet="ab'\" \\$#é", min_size=1), min_size=1, max_size=5))
def test_words_are_those_of_the_shell(words: list[str]) -> None:
    (found,) = commands(shlex.join(words))
    assert [word.value for word in found] == words


FLAGS = {"--no_cuda": "--use_cpu", "--evaluation_strategy no": "--eval_strategy no"}
OTHERS = ["--seed 1", "--output_dir 'a b'", "--x=${Y:-1}", "# end"]


@given(
    st.lists(st.sampled_from([*FLAGS, *OTHERS[:3]]), max_size=8, unique=True),
    st.sampled_from([" ", "  ", " \\\n    ", " \\\r\n\t"]),
    st.sampled_from(["", "\n", " # end\n", " && echo done", " | tee log\n"]),
    st.sampled_from(["", "export A=1\n", "# trl sft --no_cuda\n\n\t", "echo hé; "]),
)
def test_everything_else_stays(flags: list[str], blank: str, end: str, begin: str) -> None:
    before = begin + blank.join(["trl sft", *flags]) + end
    after = begin + blank.join(["trl sft", *(FLAGS.get(flag, flag) for flag in flags)]) + end
    assert shell.modernize(before, DUE).text == after
