"""Evaluation and prediction, with generation and without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import facts, tiny


def _rows() -> Any:
    return tiny.rows("input_ids", "attention_mask", "labels", count=5)


def _classifier(metrics: Any = None, **settings: Any) -> Any:
    import transformers
    from datasets import Dataset

    rows = Dataset.from_dict({"input_ids": [[1, 6, 8]] * 5, "labels": [0, 1, 0, 1, 0]})
    choices = {
        key: settings.pop(key) for key in list(settings) if key == "preprocess_logits_for_metrics"
    }
    return transformers.Trainer(
        model=tiny.bert(),
        args=tiny.arguments(transformers.TrainingArguments, **settings),
        eval_dataset=rows,
        train_dataset=rows,
        compute_metrics=metrics,
        **choices,
    )


def metrics() -> Iterator[tuple[str, Any]]:
    seen: list[Any] = []

    def computed(prediction: Any) -> Any:
        logits, labels = prediction
        seen.append([type(prediction).__name__, logits, labels, prediction.inputs])
        return {"accuracy": 0.5, "eval_f1": 0.25}

    made = _classifier(computed)
    found = made.evaluate()
    yield "keys", sorted(found)
    yield "kinds", facts.kind(dict(sorted(found.items())))
    yield "given", seen[0]
    yield "logged", [sorted(entry) for entry in made.state.log_history]
    predicted = made.predict(made.eval_dataset)
    yield (
        "predicted",
        [
            type(predicted).__name__,
            predicted.predictions,
            predicted.label_ids,
            sorted(predicted.metrics),
        ],
    )
    yield "prefix", sorted(made.evaluate(metric_key_prefix="test"))
    yield (
        "two sets",
        sorted(made.evaluate(eval_dataset={"a": made.eval_dataset, "b": made.eval_dataset})),
    )


def with_inputs() -> Iterator[tuple[str, Any]]:
    import transformers

    seen: list[Any] = []

    def computed(prediction: Any) -> Any:
        seen.append(prediction.inputs)
        return {}

    more = tiny.given(
        transformers.TrainingArguments, include_for_metrics__or__include_inputs_for_metrics=True
    )
    if "include_for_metrics" in more:
        more = {"include_for_metrics": ["inputs"]}
    _classifier(computed, **more).evaluate()
    yield "inputs", seen[0]


def logits() -> Iterator[tuple[str, Any]]:
    """What a language model's predictions are: logits alone, or with its cache."""
    import transformers

    seen: list[Any] = []

    def computed(prediction: Any) -> Any:
        found = prediction.predictions
        seen.append(
            [type(found).__name__, *([len(found)] if isinstance(found, tuple) else [found])]
        )
        return {}

    def preprocess(logits: Any, labels: Any) -> Any:
        seen.append([type(logits).__name__, labels])
        return (logits[0] if isinstance(logits, tuple) else logits).argmax(-1)

    for name, model, more in (
        ("llama", tiny.llama(), {}),
        ("t5", tiny.t5(), {}),
        ("preprocessed", tiny.llama(), {"preprocess_logits_for_metrics": preprocess}),
        ("hidden", tiny.bert("BertForMaskedLM", output_hidden_states=True), {}),
    ):
        seen.clear()
        made = transformers.Trainer(
            model=model,
            args=tiny.arguments(transformers.TrainingArguments),
            eval_dataset=_rows(),
            compute_metrics=computed,
            **more,
        )
        found = made.predict(_rows())
        yield name, [seen[0], type(found.predictions).__name__]


def losses_only() -> Iterator[tuple[str, Any]]:
    made = _classifier(prediction_loss_only=True)
    yield "keys", sorted(made.evaluate())
    found = made.predict(made.eval_dataset)
    yield "predictions", [found.predictions, found.label_ids]


def generated() -> Iterator[tuple[str, Any]]:
    from transformers import DataCollatorForSeq2Seq, Seq2SeqTrainer, Seq2SeqTrainingArguments

    for name, settings, model in (
        ("plain", {}, tiny.t5(eos_token_id=None)),
        ("length", {"generation_max_length": 7}, tiny.t5(eos_token_id=None)),
        ("beams", {"generation_num_beams": 2}, tiny.t5(eos_token_id=None)),
    ):
        seen: list[Any] = []

        def computed(prediction: Any, seen: list[Any] = seen) -> Any:
            predictions = prediction.predictions
            seen.append(
                [list(predictions.shape), int((predictions == -100).sum()), prediction.label_ids]
            )
            return {}

        made = Seq2SeqTrainer(
            model=model,
            args=tiny.arguments(Seq2SeqTrainingArguments, predict_with_generate=True, **settings),
            eval_dataset=_rows(),
            compute_metrics=computed,
            data_collator=DataCollatorForSeq2Seq(tiny.tokenizer()),
            **tiny.given(Seq2SeqTrainer, processing_class__or__tokenizer=tiny.tokenizer()),
        )
        yield f"{name} keys", sorted(made.evaluate())
        yield name, seen[0]
        predicted = made.predict(_rows(), max_length=6)
        yield f"{name} asked for 6", list(predicted.predictions.shape)


def modes() -> Iterator[tuple[str, Any]]:
    made = _classifier(max_steps=1)
    made.model.train()
    made.evaluate()
    yield "training after evaluate", made.model.training
    made.train()
    yield "training after train", made.model.training
    made.evaluate()
    yield "training after both", made.model.training


def stopping() -> Iterator[tuple[str, Any]]:
    import transformers

    made = _classifier(
        lambda prediction: {"score": 0.1},
        max_steps=6,
        eval_strategy__or__evaluation_strategy="steps",
        eval_steps=1,
        save_strategy="steps",
        save_steps=1,
        load_best_model_at_end=True,
        metric_for_best_model="score",
        greater_is_better=True,
    )
    made.add_callback(transformers.EarlyStoppingCallback(early_stopping_patience=2))
    made.train()
    yield "steps", made.state.global_step
    yield "best", [made.state.best_metric, made.state.best_model_checkpoint]
