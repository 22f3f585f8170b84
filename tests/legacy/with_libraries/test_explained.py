"""What a user sees without the layer leads to the row that the layer acts by."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

pytest.importorskip("trl")

from patchkit.environment import in_range
from patchkit.known.answer import Answer
from patchkit.known.answering import answered
from patchkit.known.reading import read

from . import old_methods, test_old_calls, test_pipelines
from .both_sides import run_without
from .programs import answer
from .test_names import WITH_OTHER_KEYS

pytestmark = pytest.mark.skipif(
    in_range(version("trl"), "<1.16"), reason="older releases raise fewer of these errors"
)
FOLDER = Path(__file__).parent
OF_THE_SCRIPT = {
    "own_optimizer": "an attribute of the script's own class, which its method did not set",
}
"""Pieces whose error says nothing of the libraries, and why."""
OF_THE_ERROR = {
    "called_by_former_keywords of objects": "take args, kwargs",
    "fields_declared_anew": "optim='adamw_torch'",
    "flag_of_two_classes of objects": "use_cache",
    "generation_by_an_own_class of objects": "_supports_cache_class",
    "labels_of_language_models of objects": "lm_labels",
    "layers_by_their_old_names": "q_proj",
    "metrics_of_pairs of objects": "processing_class",
    "model_card of objects": "finetuned_from",
    "outputs_in_order of objects": "return_dict",
    "own_logging_without_norm": "_maybe_log_save_evaluate",
    "own_output_tied of objects": "transformers.models.gpt2",
    "own_settings": "warmup_steps",
    "processor_of_a_feature_extractor of objects": "feature_extractor= image_processor=",
    "said_twice": "quantization_config",
    "settings_of_a_configuration_made of objects": "generation_config",
    "settings_of_each_configuration of objects": "sep_token_id",
    "settings_of_generate_for_a_configuration of objects": "generation_config",
    "shared_weights": "legacy=True share memory",
    "texts_in_lists_beside_prompts": "formatting_func",
    "yaml_file": "warmup_steps",
}
"""What the answer must have where the layer tells more than the first error speaks of."""
SILENT = {
    "dtype_of_a_model_by_name",
    "labels_that_begin_with_one of objects",
    "set_afterwards",
}
"""Pieces that raise nothing: their results are others."""
PIECES = {
    **{name: (case[0], case[3]) for name, case in test_old_calls.OLD.items()},
    **{f"{name} of objects": (case[0], case[3]) for name, case in old_methods.PIECES.items()},
    **{
        f"{name} refused": (case[0], case[1].partition(" has been gone")[0])
        for name, case in old_methods.REFUSED.items()
        if name != "own_loss_of_dpo"  # It raises nothing.
    },
    **{
        name: (test_pipelines._START + case[0], "text2text-generation")
        for name, case in test_pipelines.PIECES.items()
    },
    "question_answering": (
        test_pipelines._START + test_pipelines.REFUSED["question_answering"][0],
        "question-answering",
    ),
    "unknown_token": (test_old_calls.UNKNOWN_TOKEN, "tokenizer.unk_token"),
    "unlike_adapters": (test_old_calls.UNLIKE_ADAPTERS, "peft_config"),
    "contradiction": (test_old_calls.CONTRADICTION, "quantization_config"),
}
"""By the name of the piece: its text, and what the layer tells where it acts."""


def installed(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def answers(text: str) -> tuple[Answer, ...]:
    return answered(read(text), installed).answers


def is_gone(name: str, found: tuple[Answer, ...]) -> bool:
    """Tell whether one of the first two answers says that the name has been gone."""
    return any(name in answer.id and "has been gone since" in answer.cause for answer in found[:2])


def words(text: str) -> set[str]:
    """Return the names and values in what the layer tells; all its words if it has none."""
    text = re.sub(r"\bOwn\.|^[\w/]+\.py:\d+: ", "", text)
    named = {word for word in re.findall(r"[\w-]+", text) if re.search(r"[_A-Z-]|^\w+=$", word)}
    return named or set(re.findall(r"[\w-]{4,}", text))


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    texts = {name: piece for name, (piece, _) in PIECES.items()}
    return run_without(texts, tmp_path_factory.mktemp("pieces") / "off").seen


@pytest.mark.parametrize("name", sorted(PIECES.keys() - SILENT - OF_THE_SCRIPT.keys()))
def test_the_error_of_an_old_call(name: str, seen: dict[str, str]) -> None:
    found = answers(seen[name])
    assert found, seen[name][-500:]
    said = " ".join(
        " ".join((answer.id, answer.cause, answer.do, *answer.write)) for answer in found[:3]
    ).casefold()
    missing = [
        word
        for word in words(OF_THE_ERROR.get(name, PIECES[name][1]))
        if word.casefold() not in said
    ]
    assert not missing, said


def test_what_raises_nothing_is_known(seen: dict[str, str]) -> None:
    assert PIECES.keys() - seen.keys() == SILENT


def test_the_error_of_each_keyword(tmp_path: Path) -> None:
    wrong = []
    for row in answer(FOLDER / "each_keyword.py", "off", tmp_path):
        found = answers(f"TypeError: {row['became']}")
        if not is_gone(f"({row['name']}=)", found):
            wrong.append((row["keyword"], [answer.id for answer in found]))
    assert not wrong


def test_the_error_of_each_name(tmp_path: Path) -> None:
    wrong = []
    for name, (_, _, text) in answer(FOLDER / "each_name.py", "off", tmp_path).items():
        if not text and name in WITH_OTHER_KEYS:
            continue
        found = answers(text)
        if not is_gone(name, found):
            wrong.append((name, [answer.id for answer in found]))
    assert not wrong
