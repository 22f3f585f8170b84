"""`generate`, with and without settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import tiny


def _ids(*rows: list[int]) -> Any:
    import torch

    return torch.tensor(rows or ([1, 6, 8],))


def _causal(**settings: Any) -> Any:
    return tiny.llama(**{"eos_token_id": None, **settings}).eval()


def lengths() -> Iterator[tuple[str, Any]]:
    import torch

    made = _causal()
    yield "plain", list(made.generate(_ids()).shape)
    yield "a long prompt", list(made.generate(torch.ones(1, 25, dtype=torch.long)).shape)
    yield "new tokens", list(made.generate(_ids(), max_new_tokens=5).shape)
    yield "length", list(made.generate(_ids(), max_length=9).shape)
    yield "both", list(made.generate(_ids(), max_length=9, max_new_tokens=4).shape)
    yield "fewest", list(made.generate(_ids(), min_new_tokens=2, max_new_tokens=4).shape)
    yield "without ids", list(made.generate(max_new_tokens=3).shape)
    made = tiny.t5(eos_token_id=None).eval()
    yield "encoder", list(made.generate(_ids()).shape)
    yield "encoder length", list(made.generate(_ids(), max_length=7).shape)
    yield "encoder first", int(made.generate(_ids(), max_new_tokens=2)[0, 0])
    yield "encoder new tokens", list(made.generate(_ids(), max_new_tokens=7).shape)


def given_outputs() -> Iterator[tuple[str, Any]]:
    made = _causal()
    more = {"max_new_tokens": 3, "return_dict_in_generate": True}
    found = made.generate(_ids(), output_scores=True, output_hidden_states=True, **more)
    yield "type", type(found).__name__
    yield "keys", list(found.keys())
    yield "scores", [len(found.scores), found.scores[0]]
    yield (
        "hidden",
        [len(found.hidden_states), len(found.hidden_states[0]), found.hidden_states[0][0]],
    )
    yield "cache", type(found.past_key_values).__name__
    found = made.generate(_ids(), output_attentions=True, **more)
    attentions = found.attentions
    yield (
        "attentions",
        attentions and [len(attentions), type(attentions[0]).__name__, *(attentions[0] or ())[:1]],
    )
    found = made.generate(_ids(), num_beams=2, num_return_sequences=2, output_scores=True, **more)
    yield "beams", [type(found).__name__, list(found.keys()), list(found.sequences.shape)]
    moved = made.compute_transition_scores(found.sequences, found.scores, found.beam_indices)
    yield "transitions", moved


def ends() -> Iterator[tuple[str, Any]]:
    """Rows that stop early are filled with the padding token."""
    import torch

    made = _causal(pad_token_id=0)
    free = made.generate(_ids([1, 6, 8], [1, 9, 9]), max_new_tokens=6)
    stop = int(free[0, 4])
    found = made.generate(
        _ids([1, 6, 8], [1, 9, 9]), max_new_tokens=6, eos_token_id=stop, pad_token_id=0
    )
    yield "padded with", int(found[0, -1]) if stop not in free[1, 3:].tolist() else "both stopped"
    mask = torch.tensor([[0, 1, 1], [1, 1, 1]])
    yield (
        "left",
        list(
            made.generate(_ids([0, 6, 8], [1, 9, 9]), attention_mask=mask, max_new_tokens=3).shape
        ),
    )
    made.generation_config.pad_token_id = None
    yield "no padding token", list(made.generate(_ids(), max_new_tokens=2).shape)
    yield (
        "embeddings",
        list(
            made.generate(inputs_embeds=made.get_input_embeddings()(_ids()), max_new_tokens=3).shape
        ),
    )


def settings() -> Iterator[tuple[str, Any]]:
    from transformers import GenerationConfig

    made = _causal()
    chosen = GenerationConfig(max_new_tokens=4, pad_token_id=0)
    yield "given", list(made.generate(_ids(), generation_config=chosen).shape)
    made.generation_config.max_new_tokens = 6
    yield "of the model", list(made.generate(_ids()).shape)
    yield "given over the model's", list(made.generate(_ids(), generation_config=chosen).shape)
    yield (
        "partly given",
        list(made.generate(_ids(), generation_config=GenerationConfig(pad_token_id=0)).shape),
    )
    yield "changed", made.generation_config.max_new_tokens
    made.generate(_ids(), do_sample=False, temperature=0.5, top_p=0.5, max_new_tokens=2)
    yield "temperature without sampling", True


def with_streamer() -> Iterator[tuple[str, Any]]:
    from transformers import TextStreamer

    calls: list[Any] = []

    class Noted(TextStreamer):
        def put(self, value: Any) -> None:
            calls.append(list(value.shape))

        def end(self) -> None:
            calls.append("end")

    _causal().generate(_ids(), streamer=Noted(tiny.tokenizer()), max_new_tokens=3)
    yield "calls", calls


def processors() -> Iterator[tuple[str, Any]]:
    from transformers import (
        LogitsProcessor,
        LogitsProcessorList,
        StoppingCriteria,
        StoppingCriteriaList,
    )

    calls: list[Any] = []

    class Process(LogitsProcessor):
        def __call__(self, input_ids: Any, scores: Any) -> Any:
            calls.append(["process", list(input_ids.shape), str(scores.dtype)])
            return scores

    class Stop(StoppingCriteria):
        def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
            calls.append(["stop", list(input_ids.shape), type(scores).__name__, sorted(kwargs)])
            return input_ids.shape[1] >= 5

    _causal().generate(
        _ids(),
        max_new_tokens=4,
        logits_processor=LogitsProcessorList([Process()]),
        stopping_criteria=StoppingCriteriaList([Stop()]),
    )
    yield "calls", calls


def own_inputs() -> Iterator[tuple[str, Any]]:
    """What a model's own `prepare_inputs_for_generation` and `forward` get."""
    from transformers import LlamaForCausalLM

    calls: list[Any] = []

    class OwnLlama(LlamaForCausalLM):
        def prepare_inputs_for_generation(self, input_ids: Any, **kwargs: Any) -> Any:
            found = super().prepare_inputs_for_generation(input_ids, **kwargs)
            calls.append(["prepare", list(input_ids.shape), list(found["input_ids"].shape)])
            return found

    made = tiny.llama(eos_token_id=None)
    OwnLlama(made.config).eval().generate(_ids(), max_new_tokens=3)
    yield "calls", calls
