"""Tasks of pipelines, and keywords of model cards, that newer releases lack."""

from __future__ import annotations

from importlib.metadata import version

import pytest

pytest.importorskip("trl")

from patchkit.environment import in_range

from .both_sides import Side, run

pytestmark = pytest.mark.skipif(
    in_range(version("transformers"), "<5.3"), reason="the tasks are there before"
)
_START = (
    "from transformers import T5Config, T5ForConditionalGeneration, pipeline\n"
    "torch.manual_seed(0)\n"
    "sizes = {'d_model': 16, 'd_kv': 8, 'd_ff': 16, 'num_layers': 1, 'num_heads': 2}\n"
    "made = T5ForConditionalGeneration(\n"
    "    T5Config(vocab_size=len(TOKENIZER), decoder_start_token_id=0, **sizes)\n"
    ").eval()\n"
    "def answer(text, **settings):\n"
    "    ids = TOKENIZER(text, return_tensors='pt')['input_ids']\n"
    "    return TOKENIZER.decode(made.generate(ids, **settings)[0], skip_special_tokens=True)\n"
)
_GONE = "has been removed"

PIECES = {
    "summarized": (
        "summarize = pipeline('summarization', model=made, tokenizer=TOKENIZER)\n"
        "texts = summarize(TEXTS, max_new_tokens=3, num_beams=1)\n"
        "result = [row['summary_text'] for row in texts] == [\n"
        "    answer(text, max_new_tokens=3, num_beams=1) for text in TEXTS\n"
        "]",
        True,
    ),
    "generated": (
        "generate = pipeline('text2text-generation', model=made, tokenizer=TOKENIZER, device=-1)\n"
        "made_of = generate('a row', max_length=5, num_beams=1)\n"
        "result = made_of == [{'generated_text': answer('a row', max_length=5, num_beams=1)}]",
        True,
    ),
    "translated_by_a_model_of_that_name": (
        "made.config.task_specific_params = {\n"
        "    'translation_en_to_fr': {'prefix': 'the first ', 'max_length': 4, 'num_beams': 1}\n"
        "}\n"
        "made.save_pretrained('t5')\n"
        "TOKENIZER.save_pretrained('t5')\n"
        "translate = pipeline('translation_en_to_fr', model='t5', torch_dtype=torch.float32)\n"
        "expected = answer('the first row', max_length=4, num_beams=1)\n"
        "result = translate('row') == [{'translation_text': expected}]",
        True,
    ),
}
REFUSED = {
    "question_answering": (
        "pipeline('question-answering', model=MODEL)",
        "pipeline(task='question-answering') has been gone since Transformers 5.3.0.",
    ),
}
ALIKE = {
    "generated_today": (
        "generate = pipeline('text-generation', model=MODEL, tokenizer=TOKENIZER)\n"
        "made = generate('the first row', max_new_tokens=3, do_sample=False)\n"
        "result = [type(generate).__name__, generate.task, made]"
    ),
    "classified": (
        "classify = pipeline(task='text-classification', model=MODEL)\n"
        "result = type(classify).__name__"
    ),
}


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Side, Side]:
    pieces = {name: piece[0] for name, piece in {**PIECES, **REFUSED}.items()}
    return run(
        {name: _START + piece for name, piece in {**pieces, **ALIKE}.items()},
        tmp_path_factory.mktemp("sides"),
    )


@pytest.mark.parametrize("name", PIECES)
def test_a_task_of_then_is_done(name: str, sides: tuple[Side, Side]) -> None:
    assert _GONE in str(sides[0].outcomes[name])
    assert sides[1].outcomes[name] == PIECES[name][1]
    assert "has been gone since Transformers 5.0.0" in sides[1].lines(name)


@pytest.mark.parametrize("name", REFUSED)
def test_a_task_without_a_counterpart_is_refused(name: str, sides: tuple[Side, Side]) -> None:
    assert _GONE in str(sides[0].outcomes[name])
    assert REFUSED[name][1] in str(sides[1].outcomes[name])


@pytest.mark.parametrize("name", ALIKE)
def test_a_task_of_today_is_done_as_it_is(name: str, sides: tuple[Side, Side]) -> None:
    assert sides[1].outcomes[name] == sides[0].outcomes[name]
    assert "Error" not in str(sides[0].outcomes[name])
