"""Heads of classifiers in 4-bit and 8-bit: loaded, trained, saved and merged; and what stays packed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import peft
import pytest
import torch
import transformers

import patchkit
from patchkit.lab import quantized
from patchkit.precision.quant_state import packs_weight

PATCH = "transformers-quantized-head"
pytestmark = pytest.mark.usefixtures("nothing_stays_applied")
#: Whatever repacks weights on a CPU is another patch's.
ONLY = [PATCH, "bitsandbytes-cpu-inference-packing"]
TELLS_FILES = int(transformers.__version__.split(".")[0]) >= 5
IDS = torch.arange(4, 20)[None]
SMALL = {"vocab_size": 32, "num_labels": 3, "pad_token_id": 0}
LAYERS = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1}
HEADS = {"num_attention_heads": 2, "max_position_embeddings": 24}
CONFIGS: dict[str, Any] = {
    "bert": lambda: transformers.BertConfig(**SMALL, **LAYERS, **HEADS),
    "roberta": lambda: transformers.RobertaConfig(**SMALL, **LAYERS, **HEADS),
    "distilbert": lambda: transformers.DistilBertConfig(
        **SMALL, dim=64, hidden_dim=64, n_layers=1, n_heads=2
    ),
    "llama": lambda: transformers.LlamaConfig(**SMALL, **LAYERS, num_attention_heads=2),
}
TARGETS = {"distilbert": "q_lin", "llama": "q_proj"}


def save(folder: Path, family: str, *, loader: Any = None) -> Path:
    torch.manual_seed(0)
    loader = loader or transformers.AutoModelForSequenceClassification
    loader.from_config(CONFIGS[family]()).to(torch.bfloat16).save_pretrained(folder)
    return folder


def load(folder: Path, bits: int | None = None, **options: Any) -> Any:
    options = {
        "dtype": "bfloat16",
        "loader": transformers.AutoModelForSequenceClassification,
        **options,
    }
    if bits is not None:
        options.setdefault("quantization_config", quantized.configuration(bits))
    return quantized.load(folder, **options).eval()


def packed(model: Any) -> set[str]:
    return {name for name, module in model.named_modules() if packs_weight(module)}


def logits(model: Any) -> torch.Tensor:
    with torch.no_grad():
        return model(input_ids=IDS).logits.float()


def train(model: Any, family: str) -> Any:
    target = TARGETS.get(family, "query")
    config = peft.LoraConfig(task_type="SEQ_CLS", r=2, target_modules=[target])
    model = peft.get_peft_model(model, config)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-2)
    model.train()
    for _ in range(2):
        with torch.autocast("cpu", torch.bfloat16):
            loss = model(input_ids=IDS, labels=torch.tensor([1])).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.eval()


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert"])
def test_a_head_is_trained_saved_and_merged(tmp_path: Path, family: str, bits: int) -> None:
    folder = save(tmp_path / "plain", family)
    patchkit.apply(only=ONLY)
    model = load(folder, bits)
    assert all(name.startswith(f"{model.base_model_prefix}.") for name in packed(model))
    before = logits(model)
    model = train(model, family)
    after = logits(model)
    assert (after - before).abs().max() > 0.05
    with model.disable_adapter():
        torch.testing.assert_close(logits(model), before)
    model.save_pretrained(tmp_path / "adapter")
    again = peft.PeftModel.from_pretrained(load(folder, bits), tmp_path / "adapter").eval()
    torch.testing.assert_close(logits(again), after, rtol=2**-6, atol=2**-6)
    merged = model.merge_and_unload()
    expected = logits(merged)
    merged.save_pretrained(tmp_path / "merged")
    patchkit.revert()
    torch.testing.assert_close(logits(load(tmp_path / "merged")), expected, rtol=2**-6, atol=2**-6)


def test_a_head_that_the_checkpoint_does_not_have(tmp_path: Path) -> None:
    folder = save(tmp_path, "roberta", loader=transformers.AutoModel)
    for bits in (4, 8):
        with pytest.raises((AssertionError, AttributeError)):
            logits(load(folder, bits, num_labels=3))
        with patchkit.patched(PATCH):
            model = train(load(folder, bits, num_labels=3), "roberta")
        assert logits(model).isfinite().all()


def test_what_is_left_as_it_was(tmp_path: Path) -> None:
    """A model with an LM head, the head that is kept anyway, and lists of one's own."""
    causal = {"loader": transformers.AutoModelForCausalLM}
    cases: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("llama", {}, {}),
        ("llama", causal, causal),
        ("roberta", {}, {"quantization_config": skipping([])}),
        ("roberta", {}, {"quantization_config": skipping(["classifier.out_proj"])}),
    ]
    for number, (family, saving, options) in enumerate(cases):
        folder = save(tmp_path / str(number), family, **saving)
        plainly = load(folder, 4, **options)
        with patchkit.patched(PATCH):
            model = load(folder, 4, **options)
        assert packed(model) == packed(plainly)
        assert model.config.to_dict() == plainly.config.to_dict()


def skipping(names: list[str], **options: Any) -> Any:
    return quantized.configuration(4, llm_int8_skip_modules=names, **options)


def test_the_users_configuration_is_not_changed(tmp_path: Path) -> None:
    config = quantized.configuration(4)
    patchkit.apply(only=ONLY)
    first = load(save(tmp_path / "one", "roberta"), quantization_config=config)
    assert config.llm_int8_skip_modules is None
    second = load(save(tmp_path / "two", "distilbert"), quantization_config=config)
    lists = [model.config.quantization_config.llm_int8_skip_modules for model in (first, second)]
    assert {"classifier.dense", "classifier.out_proj"} <= set(lists[0])
    assert {"pre_classifier", "classifier"} <= set(lists[1])
    assert "classifier.dense" not in lists[1]


def test_a_head_that_the_checkpoint_has_packed(tmp_path: Path) -> None:
    folder = save(tmp_path / "plain", "roberta")
    load(folder, quantization_config=skipping(["nothing"])).save_pretrained(tmp_path / "packed")
    plainly = load(tmp_path / "packed")
    with patchkit.patched(PATCH):
        model = load(tmp_path / "packed")
    assert "classifier.dense" in packed(model) == packed(plainly)
    for (name, weight), (_, expected) in zip(
        model.named_parameters(), plainly.named_parameters(), strict=True
    ):
        assert torch.equal(weight, expected), name


@pytest.mark.skipif(not TELLS_FILES, reason="this release does not say which files it loads")
def test_what_the_files_of_a_checkpoint_lack(tmp_path: Path) -> None:
    """A head beside a list of one's own, one of a packed base model, and a pooler."""
    base = save(tmp_path / "roberta", "roberta", loader=transformers.AutoModel)
    config = skipping(["lm_head"])
    load(base, quantization_config=config, loader=transformers.AutoModel).save_pretrained(
        tmp_path / "packed"
    )
    bert = save(tmp_path / "bert", "bert", loader=transformers.AutoModelForMaskedLM)
    patchkit.apply(only=ONLY)
    for folder, options in (
        (base, {"quantization_config": config}),
        (tmp_path / "packed", {}),
        (bert, {"bits": 4}),
    ):
        model = load(folder, num_labels=3, **options)
        assert packed(model)
        assert not any("classifier" in name or "pooler" in name for name in packed(model))
        assert logits(model).isfinite().all()


def test_a_name_that_the_base_model_has_too(tmp_path: Path, monkeypatch: Any) -> None:
    """Transformers compares ends of names: `dense` would keep all of the base model plain."""
    made = transformers.BertForSequenceClassification.__init__

    def with_dense(self: Any, config: Any) -> None:
        made(self, config)
        last = self.classifier
        del self.classifier
        self.dense = torch.nn.Linear(64, 64)
        self.classifier = last

    monkeypatch.setattr(transformers.BertForSequenceClassification, "__init__", with_dense)
    folder = save(tmp_path, "bert")
    patchkit.apply(only=ONLY)
    names = packed(load(folder, 4))
    assert "dense" in names
    assert "classifier" not in names
    assert "bert.encoder.layer.0.output.dense" in names


@pytest.mark.parametrize("bits", [4, 8])
def test_a_head_that_was_replaced_is_saved(tmp_path: Path, bits: int) -> None:
    folder = save(tmp_path / "plain", "roberta")
    patchkit.apply(only=[*ONLY, "transformers-plain-layer-saved"])
    model = load(folder, bits)
    untouched = model.config.to_dict()
    model.save_pretrained(tmp_path / "untouched")
    assert model.config.to_dict() == untouched
    model.roberta.encoder.layer[0].output.dense = torch.nn.Linear(64, 64).to(torch.bfloat16)
    expected = logits(model)
    model.save_pretrained(tmp_path / "replaced")
    patchkit.revert()
    again = load(tmp_path / "replaced")
    assert "roberta.encoder.layer.0.output.dense" not in packed(again)
    assert "roberta.encoder.layer.0.intermediate.dense" in packed(again)
    torch.testing.assert_close(logits(again), expected, rtol=2**-6, atol=2**-6)


def test_models_that_nobody_changed_are_saved_as_before(tmp_path: Path) -> None:
    for number, (family, loader) in enumerate(
        [("llama", transformers.AutoModelForCausalLM), ("llama", None), ("bert", None)]
    ):
        folder = save(tmp_path / str(number), family, loader=loader)
        options = {} if loader is None else {"loader": loader}
        model = load(folder, 4, **options)
        before = model.config.to_dict()
        with patchkit.patched("transformers-plain-layer-saved"):
            model.save_pretrained(tmp_path / "saved")
        assert model.config.to_dict() == before
