"""Errors that many people reported of Transformers and what stands beside it, by how often they are."""

from __future__ import annotations

import re

import pytest

from tests.known.test_reports import NEWEST, said

_LINE = '  File "/x/site-packages/{}", line 7, in {}\n'


def raised_in(place: str, function: str, message: str) -> str:
    return _LINE.format(place, function) + message


# Report to: the text, and what the answer must say.
REPORTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "huggingface/datasets#6567": (
        raised_in(
            "transformers/trainer.py",
            "_move_model_to_device",
            "AttributeError: 'str' object has no attribute 'to'",
        ),
        ("given as a text", "from_pretrained"),
    ),
    "jianzhnie/LLamaTuner#97": (
        raised_in(
            "peft/config.py",
            "from_pretrained",
            "TypeError: LoraConfig.__init__() got an unexpected keyword argument 'loftq_config'",
        ),
        ("newer PEFT", "pip install -U peft"),
    ),
    "NielsRogge/Transformers-Tutorials#381": (
        "ValueError: You passed a `DataCollatorForCompletionOnlyLM` to the SFTTrainer. This is not "
        "compatible with the `packing` argument.",
        ("packing=False",),
    ),
    "huggingface/open-r1#366": (
        "    shift_logits = outputs.logits[..., :-1, :].contiguous()\n"
        "TypeError: 'NoneType' object is not subscriptable",
        ("Liger", "Upgrade TRL", "use_liger_kernel=False"),
    ),
    "huggingface/course#1005": (
        '    prompt_ids = inputs["prompt_ids"]\n'
        "TypeError: list indices must be integers or slices, not str",
        ("0\\.15", "pip install -U trl"),
    ),
    "princeton-nlp/SimCSE#42": (
        raised_in(
            "transformers/models/gpt2/tokenization_gpt2.py",
            "__init__",
            "TypeError: expected str, bytes or os.PathLike object, not NoneType",
        ),
        ("merges\\.txt", "use_fast=True"),
    ),
    "ymcui/Chinese-LLaMA-Alpaca#141": (
        "AttributeError: 'PeftModelForCausalLM' object has no attribute 'merge_and_unload'",
        ("too old", "0\\.3", "pip install -U peft"),
    ),
    "OpenCSGs/csghub-sdk#89": (
        "ValueError: BuilderConfig ParquetConfig(name='mrpc', version=0.0.0) doesn't have a "
        "'use_auth_token' key.",
        ("use_auth_token", "token="),
    ),
    "huggingface/datasets#6183": (
        "SchemaInferenceError: Please pass `features` or at least one example when writing data",
        ("no rows", "path"),
    ),
    "unslothai/unsloth#3293": (
        raised_in("unsloth/models/rl.py", "patch_functions", "IndexError: list index out of range"),
        ("rewrites the source", "unsloth_compiled_cache", "unsloth_zoo"),
    ),
    "hiyouga/LlamaFactory#7232": (
        "AttributeError: Can't get local object 'AutoModelForCausalLMWithValueHead.post_init."
        "<locals>.set_device_hook'",
        ("pickled", "dataloader_num_workers=0"),
    ),
    "modelscope/ms-swift#3207": (
        "AttributeError: 'OSError' object has no attribute 'choices'",
        ("OSError above", "pip install -U ms-swift"),
    ),
    "clovaai/donut#155": (
        "TypeError: prepare_inputs_for_inference() got an unexpected keyword argument "
        "'past_key_values'",
        ("4\\.25", "kwargs"),
    ),
    "huggingface/datasets#7793": (
        "pyarrow.lib.ArrowNotImplementedError: Nested data conversions not implemented for chunked "
        "array outputs",
        ("2 GiB", "row_group_size"),
    ),
    "modelscope/ms-swift#4754": (
        "MaxLengthError: Current length of row(7756) is larger than the max_length(4096).",
        ("7756", "4096", "truncation_strategy"),
    ),
    "huggingface/transformers#37713": (
        'SafetensorError: Error while serializing: IoError(Os { code: 1224, message: "The requested '
        'operation cannot be performed on a file with a user-mapped section open." })',
        ("loaded from", "another folder"),
    ),
    "hiyouga/LlamaFactory#7959": (
        "ValueError: Processor was not found, please check and update your model file.",
        ("preprocessor_config\\.json", "-hf"),
    ),
    "huggingface/transformers#27546": (
        raised_in(
            "transformers/generation/utils.py",
            "generate",
            "RuntimeError: The size of tensor a (12) must match the size of tensor b (31) at "
            "non-singleton dimension 3",
        ),
        ("attention_mask", "past_key_values"),
    ),
    "liyaxuanliyaxuan/TinyVLA#17": (
        "ValueError: The checkpoint you are trying to load has model type `llava_pythia` but "
        "Transformers does not recognize this architecture.",
        ("or never", "import the project's package", "trust_remote_code"),
    ),
    "MaartenGr/BERTopic#2364": (
        "ImportError: cannot import name 'PreTrainedModel' from 'transformers' (/x/__init__.py)",
        ("every release", "PyTorch", "--force-reinstall"),
    ),
    "huggingface/sentence-transformers#3341": (
        "TypeError: SentenceTransformerTrainingArguments.__init__() got an unexpected keyword "
        "argument 'dispatch_batches'",
        ("accelerator_config",),
    ),
    "a data set of files with other columns": (
        "datasets.exceptions.DatasetGenerationCastError: An error occurred while generating the "
        "dataset\n\nAll the data files must have the same columns, but at some point there are 1 "
        "new columns ({'system'})",
        ("different columns",),
    ),
    "a project of before 4.35": (
        "ImportError: cannot import name '_expand_mask' from "
        "'transformers.models.clip.modeling_clip' (/x/modeling_clip.py)",
        ("4\\.35",),
    ),
    "a tokenizer's folder without files": (
        "OSError: Can't load tokenizer for 'openai/clip-vit-large-patch14'. If you were trying to "
        "load it from 'https://huggingface.co/models', make sure",
        ("under openai/clip-vit-large-patch14:",),
    ),
}


@pytest.mark.parametrize("installed", [{}, NEWEST], ids=["nothing installed", "newest"])
@pytest.mark.parametrize("report", REPORTS)
def test_a_report_of_a_library(report: str, installed: dict[str, str]) -> None:
    text, substance = REPORTS[report]
    answer = said(text, installed)
    for part in substance:
        assert re.search(part, answer), f"{part} is missing in: {answer}"


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (
            "TypeError: LoraConfig.__init__() got an unexpected keyword argument 'loftq_config' "
            "(from_pretrained)",
            "low-cpu-memory-keyword",
        ),
        (
            "TypeError: SentenceTransformerTrainingArguments.__init__() got an unexpected keyword "
            "argument 'split_batches'",
            "accelerator-keyword-of-trainer",
        ),
        (
            "AttributeError: 'PeftModelForCausalLM' object has no attribute 'merge_and_unload'",
            "no-merge-of-plain-model",
        ),
    ],
)
def test_a_cause_that_it_is_not(text: str, row: str) -> None:
    from patchkit.known.answering import answered
    from patchkit.known.reading import read

    assert row not in [answer.id for answer in answered(read(text), NEWEST.get).answers]
