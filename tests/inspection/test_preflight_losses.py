"""Losses of the batches of a step: what preflight says, beside what the trainer logs."""

from __future__ import annotations

import pytest

import patchkit

FINDING = "losses-added-up"
BATCHES = 4


def classifier():
    import transformers

    size = {"hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 2}
    config = transformers.BertConfig(vocab_size=64, num_hidden_layers=1, num_labels=2, **size)
    return transformers.BertForSequenceClassification(config)


def adapted_classifier():
    import peft

    lora = peft.LoraConfig(r=2, target_modules=["query"], task_type="SEQ_CLS")
    return peft.get_peft_model(classifier(), lora)


def language_model():
    import transformers

    size = {"hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 2}
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(vocab_size=64, num_hidden_layers=1, **size)
    )


def with_weights(trainer, model, inputs, return_outputs=False, **kwargs):
    """Compute the loss as scripts do that weigh classes."""
    import torch

    outputs = model(**inputs)
    weights = torch.tensor([1.0, 2.0])
    loss = torch.nn.functional.cross_entropy(outputs.logits, inputs["labels"], weights)
    return (loss, outputs) if return_outputs else loss


def divided(trainer, model, inputs, return_outputs=False, num_items_in_batch=None):
    import torch

    logits = model(**inputs).logits
    loss = torch.nn.functional.cross_entropy(logits, inputs["labels"], reduction="sum")
    return loss / (num_items_in_batch or len(logits))  # None where the trainer divides.


def made_elsewhere(outputs, labels, num_items_in_batch=None):
    import torch

    loss = torch.nn.functional.cross_entropy(outputs.logits, labels, reduction="sum")
    return loss / num_items_in_batch


CASES = {
    "a classifier": (classifier, None, {}),
    "a classifier with adapters": (adapted_classifier, None, {}),
    "a loss of the trainer's own": (classifier, with_weights, {}),
    "one that is divided": (classifier, divided, {}),
    "a loss function": (classifier, None, {"compute_loss_func": made_elsewhere}),
    "a language model": (language_model, None, {}),
}


def make_trainer(make, case: str, batches: int):
    import torch
    import transformers

    build, own, options = CASES[case]
    torch.manual_seed(0)
    model = build()
    ids = [[4 + number, 5, 6, 7] for number in range(8)]
    labels = ids if build is language_model else [number % 2 for number in range(8)]
    rows = [
        {"input_ids": torch.tensor(each), "labels": torch.tensor(label)}
        for each, label in zip(ids, labels, strict=True)
    ]
    cls = type("Own", (transformers.Trainer,), {"compute_loss": own} if own else {})
    args = make.args(
        max_steps=1,
        learning_rate=0.0,
        per_device_train_batch_size=8 // batches,
        gradient_accumulation_steps=batches,
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
    )
    return cls(model=model.eval(), args=args, train_dataset=rows, **options)


def logged(trainer) -> float:
    for module in trainer.model.modules():
        module.p = 0.0  # A dropout would give two runs two losses.
    trainer.train()
    return trainer.state.log_history[0]["loss"]


@pytest.mark.parametrize("case", CASES)
def test_what_is_said_is_what_is_logged(make, case: str) -> None:
    whole, split = (logged(make_trainer(make, case, batches)) for batches in (1, BATCHES))
    assert FINDING not in patchkit.preflight(make_trainer(make, case, 1))
    findings = patchkit.preflight(make_trainer(make, case, BATCHES))
    expected = BATCHES if FINDING in findings else 1
    assert split / whole == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("case", ["a classifier", "a loss of the trainer's own"])
def test_it_is_repaired(make, case: str) -> None:
    trainer = make_trainer(make, case, BATCHES)
    if not trainer.model_accepts_loss_kwargs:
        pytest.skip("this Transformers divides the losses of this model")
    name = "BertForSequenceClassification.forward" if case == "a classifier" else "Own.compute_loss"
    assert name in patchkit.preflight(trainer)[FINDING].why
    assert patchkit.preflight(trainer, fix=True)[FINDING].fixed
    assert FINDING not in patchkit.preflight(trainer)
    assert logged(trainer) == pytest.approx(logged(make_trainer(make, case, 1)), rel=0.1)
