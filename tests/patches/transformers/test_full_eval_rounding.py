"""A model that is evaluated in half precision is the one that loading makes in that dtype."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import patchkit
from patchkit.lab import shapes, tiny

ONLY = "transformers-full-eval-rounding"
IDS = torch.arange(4, 12)
DATA = [{"input_ids": IDS, "labels": IDS}]
HALF = {"fp16_full_eval": torch.float16, "bf16_full_eval": torch.bfloat16}


def evaluate(model: torch.nn.Module, folder: Path, option: str, data: Any = DATA) -> None:
    import transformers

    arguments = transformers.TrainingArguments(
        folder,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        dataloader_pin_memory=False,
        **{option: True},
    )
    transformers.Trainer(model=model, args=arguments, eval_dataset=data).evaluate()


def tensors(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return dict([*model.named_parameters(), *model.named_buffers()])


def loaded(model: torch.nn.Module, folder: Path, dtype: torch.dtype) -> Any:
    model.save_pretrained(folder)
    return type(model).from_pretrained(folder, **{tiny.dtype_keyword(): dtype}).eval()


# Llama has frequencies, T5 and GPT-OSS have modules that stay in float32, OPT has neither.
@pytest.mark.parametrize("option", HALF)
@pytest.mark.parametrize("family", ["llama", "gemma3", "gpt_oss", "opt", "t5"])
def test_every_tensor_is_as_if_loaded(tmp_path: Path, family: str, option: str) -> None:
    try:
        model = shapes.build(family)
    except LookupError as error:
        pytest.skip(str(error))
    fresh = loaded(model, tmp_path, HALF[option])
    with patchkit.patched(only=ONLY, strict=True):
        evaluate(model, tmp_path, option)
        evaluate(model, tmp_path, option)
    expected = tensors(fresh)
    assert tensors(model).keys() == expected.keys()
    for name, tensor in tensors(model).items():
        assert tensor.dtype == expected[name].dtype, name
        assert torch.equal(tensor, expected[name]), name
    with patchkit.patched(only="transformers-norm-output-dtype"), torch.no_grad():
        assert torch.equal(shapes.forward(model), shapes.forward(fresh))


def test_far_positions_are_those_of_the_loaded_model(tmp_path: Path) -> None:
    long = torch.randint(3, 64, (1, 1536), generator=torch.Generator().manual_seed(0))
    data = [{"input_ids": long[0], "labels": long[0]}]

    def build() -> Any:
        return shapes.build("llama", max_position_embeddings=2048, initializer_range=0.4)

    def far(model: torch.nn.Module) -> torch.Tensor:
        with torch.no_grad():
            return model(long).logits[0, 1024:].double().log_softmax(-1)

    exact, bare, fixed = far(build()), build(), build()
    evaluate(bare, tmp_path, "bf16_full_eval", data)
    with patchkit.patched(only=ONLY, strict=True):
        evaluate(fixed, tmp_path, "bf16_full_eval", data)
    fresh = loaded(build(), tmp_path, torch.bfloat16)

    def divergence(model: torch.nn.Module) -> float:
        return (exact.exp() * (exact - far(model))).sum(-1).mean().item()

    assert torch.equal(far(fixed), far(fresh))
    assert divergence(bare) > 5 * divergence(fixed)


def test_below_adapters(tmp_path: Path) -> None:
    import peft

    fresh = loaded(shapes.build("t5"), tmp_path, torch.float16)
    expected = {name for name, tensor in tensors(fresh).items() if tensor.dtype == torch.float32}
    config = peft.LoraConfig(r=2, target_modules=["q", "wo"], modules_to_save=["lm_head"])
    model = peft.get_peft_model(shapes.build("t5"), config)
    with patchkit.patched(only=ONLY, strict=True):
        evaluate(model, tmp_path, "fp16_full_eval")
    found = {name for name, tensor in tensors(model).items() if tensor.dtype == torch.float32}
    assert expected
    assert {name.replace("base_model.model.", "").replace(".base_layer", "") for name in found} == (
        expected
    )


def test_gradients_follow_their_parameters(tmp_path: Path) -> None:
    model = shapes.build("t5")
    model(input_ids=shapes.words(), labels=shapes.words()).loss.backward()
    gradients = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    with patchkit.patched(only=ONLY, strict=True):
        evaluate(model, tmp_path, "fp16_full_eval")
    for name, parameter in model.named_parameters():
        assert parameter.grad.dtype == parameter.dtype
        assert torch.equal(parameter.grad, gradients[name].to(parameter.dtype))
    assert model.decoder.block[0].layer[2].DenseReluDense.wo.weight.grad.dtype == torch.float32


def test_complex_frequencies_keep_their_imaginary_part(tmp_path: Path) -> None:
    from transformers import LlamaForCausalLM

    class WithPhases(LlamaForCausalLM):
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            angles = torch.arange(3, dtype=torch.float32)
            phases = torch.polar(torch.ones_like(angles), angles)
            self.register_buffer("phases", phases, persistent=False)

    model = WithPhases(shapes.build("llama").config)
    phases = model.phases
    with patchkit.patched(only=ONLY, strict=True):
        evaluate(model, tmp_path, "bf16_full_eval")
    assert model.phases is phases
    assert model.lm_head.weight.dtype == torch.bfloat16


def test_with_the_patch_that_gives_a_trained_model_back(tmp_path: Path) -> None:
    import transformers

    model = shapes.build("t5").bfloat16()
    arguments = transformers.TrainingArguments(
        tmp_path, fp16_full_eval=True, report_to=[], disable_tqdm=True, use_cpu=True
    )
    before = {name: (t.data_ptr(), t.dtype) for name, t in tensors(model).items()}
    with patchkit.patched(only=[ONLY, "transformers-full-eval-dtype"], strict=True):
        trainer = transformers.Trainer(
            model=model, args=arguments, train_dataset=DATA, eval_dataset=DATA
        )
        trainer.evaluate()
    assert {name: (t.data_ptr(), t.dtype) for name, t in tensors(model).items()} == before


def test_a_model_that_cannot_be_built_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from transformers import LlamaForCausalLM

    class Named(LlamaForCausalLM):
        def __init__(self, config: Any, *, name: str) -> None:
            super().__init__(config)
            self.name = name

    model = Named(shapes.build("llama").config, name="first")
    default = torch.get_default_dtype()
    with patchkit.patched(only=ONLY, strict=True), caplog.at_level("WARNING", "patchkit"):
        evaluate(model, tmp_path, "bf16_full_eval")
    assert {tensor.dtype for tensor in tensors(model).values()} == {torch.bfloat16}
    assert "Named is cast to torch.bfloat16, since it cannot be built" in caplog.text
    assert torch.get_default_dtype() == default


def test_looking_leaves_no_trace() -> None:
    from patchkit.patches.transformers._dtypes_of_loading import dtypes_of_loading

    model = shapes.build("llama")
    config, state = model.config.to_dict(), torch.get_rng_state()
    dtypes = dtypes_of_loading(model, torch.bfloat16)
    assert set(dtypes.values()) == {torch.float32}
    assert all("inv_freq" in name for name in dtypes)
    assert model.config.to_dict() == config
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_default_dtype() == torch.float32
    assert model.lm_head.weight.device.type == "cpu"
