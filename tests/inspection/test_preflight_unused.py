"""A trained part that nothing reads gets no gradient; one that is read does, and is not named."""

from __future__ import annotations

from typing import Any

import pytest

import patchkit
from patchkit.inspection.findings import Severity

FINDING = "trained-but-unused"


def with_head(make: Any) -> Any:
    """Return a real model with a head that its forward does not know."""
    import torch

    model = make.model("float32")
    model.extra_head = torch.nn.Linear(model.config.hidden_size, 2)
    return model


def with_forward(make: Any) -> Any:
    model = with_head(make)
    before = model.forward

    def forward(input_ids: Any = None, labels: Any = None, **kwargs: Any) -> Any:
        output = before(input_ids, labels=labels, output_hidden_states=True, **kwargs)
        output.loss = output.loss + model.extra_head(output.hidden_states[-1]).mean()
        return output

    model.forward = forward
    return model


def with_method(make: Any) -> Any:
    model = with_head(make)

    class WithHead(type(model)):  # type: ignore[misc]
        def forward(self, input_ids: Any = None, labels: Any = None, **kwargs: Any) -> Any:
            output = super().forward(input_ids, labels=labels, output_hidden_states=True, **kwargs)
            output.loss = output.loss + self.extra_head(output.hidden_states[-1]).mean()
            return output

    model.__class__ = WithHead
    return model


def frozen_head(make: Any) -> Any:
    model = with_head(make)
    model.extra_head.requires_grad_(False)
    return model


def adapted(make: Any) -> Any:
    import peft

    config = peft.LoraConfig(r=2, target_modules=["q_proj"], modules_to_save=["lm_head"])
    return peft.get_peft_model(make.model("float32"), config)


def adapted_with_head(make: Any) -> Any:
    import peft

    config = peft.LoraConfig(r=2, target_modules=["q_proj"], modules_to_save=["extra_head"])
    return peft.get_peft_model(with_head(make), config)


def without_gradient(model: Any) -> set[str]:
    return {
        name
        for name, tensor in model.named_parameters()
        if tensor.requires_grad and tensor.grad is None
    }


def train(make: Any, model: Any, **options: Any) -> tuple[Any, set[str]]:
    """Return preflight's findings, and what has no gradient after a step."""
    with make.trainer(model, **options) as trainer:
        findings = patchkit.preflight(trainer)
        batch = next(iter(trainer.get_train_dataloader()))
        trainer.compute_loss(trainer.model, dict(batch)).backward()
        return findings, without_gradient(trainer.model)


@pytest.mark.parametrize("build", [with_head, adapted_with_head])
def test_what_nothing_reads(make, build) -> None:
    findings, missing = train(make, build(make))
    finding = findings[FINDING]
    assert finding.severity is Severity.WARNING
    assert missing
    assert all("extra_head" in name for name in missing)
    assert "extra_head" in finding.found
    assert "requires_grad_(False)" in finding.change


@pytest.mark.parametrize("build", [with_forward, with_method, frozen_head, adapted])
def test_what_is_read_or_frozen(make, build) -> None:
    findings, missing = train(make, build(make))
    assert not missing
    assert FINDING not in {finding.id for finding in findings}


def test_a_loss_of_the_trainer_reads_it(make, monkeypatch: pytest.MonkeyPatch) -> None:
    with make.trainer(with_head(make)) as trainer:
        assert FINDING in {finding.id for finding in patchkit.preflight(trainer)}

        class WithLoss(type(trainer)):  # type: ignore[misc]
            def compute_loss(self, model: Any, inputs: Any, **kwargs: Any) -> Any:
                return model.extra_head.weight.sum()

        monkeypatch.setattr(trainer, "__class__", WithLoss)
        assert FINDING not in {finding.id for finding in patchkit.preflight(trainer)}
