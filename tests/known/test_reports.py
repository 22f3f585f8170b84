"""Errors that many people reported: each is answered by its cause and remedy.

`reports/` has their texts, with the lines above the error where they decide, and what the answer
must say, as regular expressions. `mistaken.yaml` has texts that look like others.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from patchkit.known.answering import Found, answered
from patchkit.known.choosing import matches
from patchkit.known.pasted import Pasted
from patchkit.known.reading import read
from patchkit.known.wording import MOST_LINES, WIDTH, shown

NEWEST = {
    "trl": "1.16.0",
    "transformers": "5.23.0",
    "peft": "0.21.2",
    "accelerate": "1.15.0",
    "bitsandbytes": "0.50.2",
    "datasets": "5.2.0",
    "torch": "2.13.0",
}


def reports(file: str) -> list[Any]:
    """Return the reports of a file as parameters, named by where each was read or by its end."""
    text = Path(__file__).with_name("reports").joinpath(file).read_text(encoding="utf-8")
    found = yaml.load(text, yaml.CSafeLoader)
    names = [each.get("of") or each.get("row") or each["text"][-60:] for each in found]
    return [pytest.param(each, id=name) for each, name in zip(found, names, strict=True)]


def said(text: str, installed: dict[str, str] | None = None) -> str:
    pasted = read(text)
    return words_of(answered(pasted, (installed or {}).get), pasted)


def words_of(found: Found, pasted: Pasted) -> str:
    assert found.answers, "nothing is known"
    lines = shown(found, pasted, {})
    assert len(lines) <= MOST_LINES
    prose = [line for line in lines if not line.startswith(" " * 11) and "http" not in line]
    assert max(map(len, prose)) <= WIDTH
    return " ".join(" ".join(lines).split())


def check_says(report: dict[str, Any], answer: str) -> None:
    for part in report["says"]:
        assert re.search(part, answer), f"{part} is missing in: {answer}"


REPORTS = [
    report
    for file in ("precision", "symptoms", "adapters", "libraries", "machines", "environments")
    for report in reports(f"{file}.yaml")
]
BY_NAME = {report.id: report for report in REPORTS}


@pytest.mark.parametrize("installed", [{}, NEWEST], ids=["nothing installed", "newest"])
@pytest.mark.parametrize("report", REPORTS)
def test_a_report(report: dict[str, Any], installed: dict[str, str]) -> None:
    pasted = read(report["text"])
    found = answered(pasted, installed.get)
    check_says(report, words_of(found, pasted))
    first = found.answers[0].id
    assert first == report.get("row", first)
    assert first not in report.get("first_is_not", ())


@pytest.mark.parametrize("installed", [{}, NEWEST], ids=["nothing installed", "newest"])
@pytest.mark.parametrize("report", reports("mistaken.yaml"))
def test_a_text_that_looks_like_another(report: dict[str, str], installed: dict[str, str]) -> None:
    pasted = read(report["text"])
    found = {answer.id for answer in answered(pasted, installed.get).answers}
    found |= {match.row.id for match in matches(pasted, installed.get)}
    assert report.get("is_not") not in found
    assert "is_not" in report or not found


def test_errors_of_other_fields_are_blamed_on_nothing_of_this_one() -> None:
    """Lines with a row before a tab have its answer, which is true in any field."""
    foreign = Path(__file__).with_name("reports").joinpath("foreign.txt").read_text("utf-8")
    for line in foreign.splitlines():
        row, _, text = line.rpartition("\t")
        found = answered(read(text), NEWEST.get).answers
        assert [answer.id for answer in found[:1]] == [row] * bool(row), text
        assert not any(answer.patches for answer in found), text


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("model type `qwen3` but Transformers does not recognize this architecture", "4.51"),
        ("KeyError: 'gemma3'", ""),
        (
            "  File \"/x/transformers/models/auto/configuration_auto.py\", line 1\nKeyError: 'gemma3'",
            "4.50",
        ),
        ("ValueError: Unknown quantization type, got spqr - supported types are: ['awq']", "4.49"),
        ("ValueError: Unknown quantization type, got modelopt - supported types are: ['awq']", ""),
    ],
)
def test_since_when(text: str, since: str) -> None:
    text = text.replace(
        "model type", "ValueError: The checkpoint you are trying to load has model type"
    )
    answer = said(text)
    assert "Upgrade Transformers" in answer
    assert since in answer


def test_the_installed_version_tells_not_yet_from_gone() -> None:
    text = "ImportError: cannot import name 'HybridCache' from 'transformers.cache_utils'"
    assert "left Transformers" in said(text)
    text = "ImportError: cannot import name 'GRPOConfig' from 'trl'"
    assert "and 0.13.0 is installed" in said(text, {"trl": "0.13.0"})
    assert "the error is of another place" in said(text, {"trl": "1.16.0"})


def test_a_file_of_another_command_is_not_one_of_an_older_release() -> None:
    text = "ValueError: Some keys are not used by the HfArgumentParser: [{}]"
    training = "'bf16', 'learning_rate', 'logging_steps', 'warmup_ratio'"
    assert "a file for another command" in said(text.format(training))
    assert "Write warmup_steps" in said(text.format("'warmup_ratio'"))


def test_an_error_that_only_reports_another_gives_way_to_it() -> None:
    text = (
        "ArrowTypeError: Expected bytes, got a 'int' object\n\n"
        "The above exception was the direct cause of the following exception:\n\n"
        "datasets.exceptions.DatasetGenerationError: An error occurred while generating the dataset"
    )
    assert "different types" in said(text)


def test_a_choice_of_names_is_not_found_at_the_beginning_of_another() -> None:
    text = "AttributeError: 'ValueModel' object has no attribute '{}'"
    assert answered(read(text.format("layers")), NEWEST.get).answers
    assert not answered(read(text.format("layers_of_mine")), NEWEST.get).answers


def test_the_keyword_of_a_class_of_another_kind_is_not_that_of_the_table() -> None:
    text = "TypeError: OwnTokenizer.__init__() got an unexpected keyword argument 'evaluation_strategy'"
    assert not answered(read(text), NEWEST.get).answers


def test_what_only_knows_the_kind_of_a_complaint_is_silent_where_nothing_was_raised_on_purpose() -> (
    None
):
    text = '  File "/x/site-packages/trl/trainer/utils.py", line 7, in f\n{}: no moon found'
    assert "is not there: “no moon found”" in said(text.format("ValueError"))
    assert not answered(read(text.format("KeyError")), NEWEST.get).answers


def test_kinds_of_refusal_are_not_about_kernels() -> None:
    text = (
        '  File "/x/site-packages/transformers/models/llama/modeling_llama.py", line 1, in forward\n'
        "{}: the gadget must be blue"
    )
    assert answered(read(text.format("ValueError")), NEWEST.get).answers
    assert not answered(read(text.format("RuntimeError")), NEWEST.get).answers


def test_refusals_of_the_libraries_own_files_are_known_whatever_their_class() -> None:
    text = (
        '  File "/x/site-packages/transformers/trainer.py", line 1, in __init__\n'
        "RuntimeError: the gadget must be blue"
    )
    assert "Transformers refuses" in said(text)
    inner = '  File "/x/site-packages/torch/nn/functional.py", line 1, in linear\nRuntimeError:'
    assert not answered(read(text.replace("RuntimeError:", inner)), NEWEST.get).answers


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("MemoryError", "memory-error"),
        ("MemoryError: 4 shards", "memory-error"),
        ("torch.OutOfMemoryError: CUDA out of memory.", "out-of-memory"),
        (
            "x.py:7: UserWarning: it is slow\n  warn(text)\n 37%|### | 3/8 [00:01<00:02]\nKilled",
            "rank-killed",
        ),
        ("./train.sh: line 4: 815 Killed                  python train.py", "rank-killed"),
        ("RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed.", "worker-killed"),
        ("Bus error (core dumped)", "bus-error"),
        (
            "ImportError: cannot import name 'int4_weight_only' from 'torchao.quantization' (/x)",
            "torchao-names",
        ),
    ],
)
def test_where_a_message_begins_and_ends(text: str, row: str) -> None:
    assert answered(read(text), NEWEST.get).answers[0].id == row


def test_what_only_knows_the_kind_of_a_complaint_knows_it_of_the_line_that_raised() -> None:
    library = '  File "/x/site-packages/datasets/arrow_dataset.py", line 7, in map\n'
    own = '  File "/home/me/prepare.py", line 3, in tokenize\n'
    refusal = "ValueError: the gadget must be blue"
    assert answered(read(own + library + refusal), NEWEST.get).answers
    assert not answered(read(library + own + refusal), NEWEST.get).answers


def test_a_short_wording_is_found_as_whole_words() -> None:
    text = '  File "/x/site-packages/trl/trainer/utils.py", line 7, in f\nValueError: {}'
    assert answered(read(text.format("No moon")), NEWEST.get).answers
    assert not answered(read(text.format("Nonesuch moon")), NEWEST.get).answers


def test_a_name_in_quotes_is_not_the_end_of_another() -> None:
    text = (
        '  File "/x/site-packages/vllm/entrypoints/llm.py", line 7, in f\n'
        "AttributeError: '{}' object has no attribute 'model_executor'"
    )
    assert answered(read(text.format("LLMEngine")), NEWEST.get).answers[0].id == "vllm-names"
    answers = answered(read(text.format("Qwen2ForCausalLM")), NEWEST.get).answers
    assert "vllm-names" not in [answer.id for answer in answers]


def test_an_attribute_at_the_end_is_not_the_beginning_of_another() -> None:
    text = '  File "/x/site-packages/trl/trainer/utils.py", line 7, in f\nAttributeError: {}'
    assert "tensors" in said(text.format("'list' object has no attribute 'to'"))
    assert "tensors" not in said(text.format("'list' object has no attribute 'to_json_string'"))


def test_what_python_says_itself_is_no_refusal_on_purpose() -> None:
    text = '  File "/x/site-packages/trl/trainer/utils.py", line 7, in f\nTypeError: {}'
    assert answered(read(text.format("not supported")), NEWEST.get).answers
    own = "'<' not supported between instances of 'str' and 'int'"
    assert not answered(read(text.format(own)), NEWEST.get).answers


def test_the_files_of_another_cause_rule_a_row_out() -> None:
    text = "  File \"/x/site-packages/{}/a.py\", line 7, in f\nKeyError: 'model.norm.weight'"
    assert "vLLM" in said(text.format("vllm"))
    assert "vLLM" not in said(text.format("safetensors"))


def test_a_decorator_of_a_library_does_not_ask_for_what_the_script_asks_for() -> None:
    text = (
        "Cell In[3], line 1\n----> 1 SFTTrainer(dataset_text_field='text')\n\n"
        "File ~/x/site-packages/transformers/utils/deprecation.py:165, in "
        "deprecate_kwarg.<locals>.wrapper.<locals>.wrapped_func(*args, **kwargs)\n\n"
        "TypeError: SFTTrainer.__init__() got an unexpected keyword argument 'dataset_text_field'"
    )
    assert "SFTConfig" in said(text)


def test_a_name_of_a_module_inside_is_no_name_of_the_whole() -> None:
    text = "ImportError: cannot import name 'logging' from 'transformers.utils' (/x/__init__.py)"
    found = answered(read(text), NEWEST.get).answers
    assert "base-names-of-transformers" not in [answer.id for answer in found]


def test_a_warning_does_not_hide_what_else_a_log_says() -> None:
    log = (
        "CUDA extension not installed.\n/x/auto_gptq/kernels.py:411: FutureWarning: "
        "`torch.cuda.amp.custom_fwd(args...)` is deprecated. Please use it.\n"
    )
    found = [match.row.id for match in matches(read(log), lambda _: None)]
    assert found[0] == "quantization-kernels-missing"
    assert "amp-names-deprecated" in found


def test_any_installed_package_may_be_the_one_that_asks() -> None:
    text = (
        '  File "/x/site-packages/{}/core.py", line 7, in f\n    tokenizer.batch_encode_plus(texts)\n'
        "AttributeError: BertTokenizer has no attribute batch_encode_plus"
    )
    answer = said(text.format("germansentiment"))
    assert "germansentiment, which was written for an older Transformers" in answer
    found = answered(read(text.format("germansentiment")), NEWEST.get).answers[0]
    assert found.write == ("pip install 'transformers<5.0.0'",), "it may have another name on PyPI"
    found = answered(read(text.format("sentence_transformers")), NEWEST.get).answers[0]
    assert found.write[0] == "pip install -U sentence-transformers"


def test_where_nobody_is_shown_to_ask_it_may_be_a_library() -> None:
    text = "ImportError: cannot import name 'BeamSearchScorer' from 'transformers'"
    assert "a library or a model's own code asks" in said(text)
    assert "a library or a model's own code asks" not in said(f'  File "/w/a.py", line 1\n{text}')


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        ("'BloomPreTrainedModel' from 'transformers'", ["Transformers 4.20"]),
        ("'BlipProcessor' from 'transformers'", ["Transformers 4.26", "older, or not whole"]),
        ("'CLIPImageProcessor' from 'transformers'", ["came with Transformers 4.25"]),
        ("'BertModel' from 'transformers'", ["every release of the last years", "PyTorch missing"]),
        ("'Qwen2VLImageProcessor' from 'transformers'", ["came with Transformers 4.45"]),
        ("'LlamaForCausalLm' from 'transformers'", ["No release", "mean `LlamaForCausalLM`"]),
        ("'BottleneckConfig' from 'peft'", ["No release of PEFT", "(a fork)"]),
        (
            "'is_torch_greater_or_equal_than_1_13' from 'transformers.pytorch_utils'",
            ["Only Transformers 4.48.0 to 4.48.1", "pip install -U transformers"],
        ),
        (
            "'ALL_ATTENTION_FUNCTIONS' from 'transformers.modeling_utils'",
            ["came with Transformers 4.48", "transformers>=4.48"],
        ),
        (
            "'_make_causal_mask' from 'transformers.models.llama.modeling_llama'",
            ["Transformers", r"4\.(35|38)"],
        ),
    ],
)
def test_a_name_of_any_release_or_none(asked: str, parts: list[str]) -> None:
    answer = said(f"ImportError: cannot import name {asked} (/x/__init__.py)")
    for part in parts:
        assert re.search(part, answer), answer


@pytest.mark.parametrize(
    ("module", "part"),
    [
        ("transformers.modeling_outputs", "came with Transformers 3.1: the one that runs is older"),
        ("transformers.models.llama.modeling_llama", "came with Transformers 4.28"),
        ("transformers.models.qwen3.modeling_qwen3", "came with Transformers 4.51"),
    ],
)
def test_a_module_of_any_release(module: str, part: str) -> None:
    assert part in said(f"ModuleNotFoundError: No module named '{module}'")


def test_a_keyword_that_came_and_went_is_not_yet_there_in_an_older_release() -> None:
    text = (
        "TypeError: DPOConfig.__init__() got an unexpected keyword argument 'max_completion_length'"
    )
    assert "came with TRL 0.11" in said(text, {"trl": "0.9.6"})
    assert "gone since TRL 0.29" in said(text, {"trl": "1.0.0"})


def test_a_whole_name_in_quotes_is_no_part_of_a_longer_one() -> None:
    assert not answered(
        read("AttributeError: 'tuple' object has no attribute 'get'"), {}.get
    ).answers
    assert answered(read("object has no attribute 'get_seq_le"), {}.get).is_part
    assert answered(read("RuntimeError: expected scalar type"), {}.get).is_part
    missing = answered(read("ModuleNotFoundError: No module named 'torch'"), {}.get).answers
    assert [answer.id for answer in missing] == ["torch-not-installed"]


def in_a_notebook(error: str) -> str:
    name, _, _ = error.partition(":")
    return (
        f"{name.ljust(40)}Traceback (most recent call last)\nCell In[7], line 3\n"
        f"      1 trainer = SFTTrainer(model)\n----> 3 trainer.train()\n\n{error}\n"
    )


def of_a_rank(error: str) -> str:
    lines = [
        "Traceback (most recent call last):",
        '  File "/w/train.py", line 9, in <module>',
        error,
    ]
    summary = (
        "E1123 10:00:00.1 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) "
        "local_rank: 0 (pid: 7) of binary: /usr/bin/python\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
        "============================================================\ntrain.py FAILED\n"
        "------------------------------------------------------------\n"
        "Root Cause (first observed failure):\n[0]:\n  rank      : 0 (local_rank: 0)\n"
        "  exitcode  : 1 (pid: 7)\n"
    )
    return "".join(f"[rank0]: {line}\n" for line in lines) + summary


def boxed(error: str) -> str:
    return (
        "╭───────────────────── Traceback (most recent call last) ──────────────────────╮\n"
        "│ /w/train.py:31 in <module>                                                   │\n"
        "│                                                                              │\n"
        "│ ❱ 31 │   trainer.train()                                                     │\n"
        "╰──────────────────────────────────────────────────────────────────────────────╯\n"
        f"{error}\n"
    )


COSTUMED = (
    "bitsandbytes-foundation/bitsandbytes#428",
    "hiyouga/LlamaFactory#4269",
    "huggingface/accelerate#2159",
    "wangyuxinwhy/uniem#65",
    "huggingface/transformers#25100",
    "IDEA-Research/HumanSD#18",
    "openreasoner/openr#28",
    "OpenBMB/CPM-Bee#73",
    "a GPU too old for vLLM's AWQ",
)


@pytest.mark.parametrize("costume", [in_a_notebook, of_a_rank, boxed])
@pytest.mark.parametrize("report", [BY_NAME[name] for name in COSTUMED])
def test_a_report_in_another_dress(report: dict[str, Any], costume: Callable[[str], str]) -> None:
    check_says(report, said(costume(report["text"]), NEWEST))
