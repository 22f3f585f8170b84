"""Evaluating a 4-bit model on a CPU, and what else is done with it before and after."""

from __future__ import annotations

import copy
import io
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from bitsandbytes.nn import Linear4bit

import patchkit
from patchkit.verification.verification import verify

from ...processes import python_path, run_python
from ..due import only_if_due

ONLY = "bitsandbytes-cpu-inference-packing"

pytestmark = [
    only_if_due(ONLY),
    pytest.mark.filterwarnings("ignore:.*an autograd kernel was not registered"),
]


@pytest.fixture
def patched():
    with patchkit.patched(only=ONLY, strict=True):
        yield


def layer(*, nested: bool = False, storage: torch.dtype = torch.uint8, **options) -> Linear4bit:
    torch.manual_seed(0)
    made = Linear4bit(
        128,
        64,
        bias=False,
        compute_dtype=torch.float32,
        quant_type="nf4",
        compress_statistics=nested,
        quant_storage=storage,
        **options,
    ).to("cpu")
    return ask_for_packing(made)


def has_kernel() -> bool:
    from bitsandbytes.functional import has_avx512bf16

    return bool(has_avx512bf16())


def ask_for_packing(model):
    """As where the kernel is; elsewhere what infers with a packed weight gives no product."""
    for module in model.modules():
        if isinstance(module, Linear4bit):
            module.support_avx512bf16_for_cpu = True
    return model


def inputs() -> torch.Tensor:
    return torch.linspace(-1, 1, 3 * 128).reshape(3, 128)


def infer(model):
    with torch.no_grad():
        return model.eval()(inputs())


def packed(model) -> bool:
    return bool(getattr(model.weight.quant_state, "packing_format_for_cpu", False))


def trained(model, *, mode: str = "train"):
    given = inputs().requires_grad_()
    outputs = getattr(model, mode)()(given)
    outputs.pow(2).sum().backward()
    return outputs.detach(), given.grad


def trains_wrongly(model, expected: tuple[torch.Tensor, torch.Tensor], **options) -> bool:
    """The kernel has no gradient; what runs in its place has one, of another weight."""
    outputs, gradient = trained(model, **options)
    assert not torch.equal(outputs, expected[0])
    return gradient is None if has_kernel() else not torch.equal(gradient, expected[1])


def saved(model) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(
        torch.equal(as_bytes(one[name]), as_bytes(other[name])) for name in one
    )


def as_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """Packed numbers read as floats may be NaN, which equals nothing."""
    return tensor.reshape(-1).view(torch.uint8)


KINDS = {
    "plain": {},
    "double quantization": {"nested": True},
    "bfloat16 storage": {"storage": torch.bfloat16},
}
kinds = pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)


@kinds
@pytest.mark.parametrize("mode", ["train", "eval"])
def test_gradients_after_inference(options, mode: str) -> None:
    expected = trained(layer(**options), mode=mode)
    bare = layer(**options)
    infer(bare)
    assert packed(bare)
    assert trains_wrongly(bare, expected, mode=mode)
    with patchkit.patched(only=ONLY, strict=True):
        fixed = layer(**options)
        for _ in range(2):
            infer(fixed)
            assert packed(fixed)
            found = trained(fixed, mode=mode)
            assert not packed(fixed)
            assert all(map(torch.equal, found, expected))


# bitsandbytes compiles what dequantizes odd sizes: 12 seconds, the results are the same.
@torch.compiler.set_stance("force_eager")
@pytest.mark.parametrize("sizes", [(100, 64), (64, 50), (65, 64)], ids=str)
def test_what_cannot_be_packed_infers_unpacked(sizes: tuple[int, int]) -> None:
    bare = Linear4bit(*sizes, compute_dtype=torch.float32, quant_type="nf4").to("cpu")
    ask_for_packing(bare)
    for rows in (1, 3):
        given = torch.linspace(-1, 1, rows * sizes[0]).reshape(rows, -1)
        with torch.no_grad():
            expected = bare.train()(given)
            with pytest.raises(
                (AssertionError, RuntimeError), match=r"must be|is invalid for input"
            ):
                bare.eval()(given)
            with patchkit.patched(only=ONLY, strict=True):
                assert torch.equal(bare.eval()(given), expected)
        assert not packed(bare)


@kinds
def test_inference_is_bit_for_bit_the_same(options) -> None:
    bare = layer(**options)
    expected = [infer(bare), infer(bare)]
    with patchkit.patched(only=ONLY, strict=True):
        fixed = layer(**options)
        assert all(map(torch.equal, [infer(fixed), infer(fixed)], expected))
        trained(fixed)
        assert torch.equal(infer(fixed), expected[0])


@kinds
def test_what_is_saved_after_inference(options) -> None:
    loaded = saved(layer(**options))
    bare = layer(**options)
    infer(bare)
    assert not equal(saved(bare), loaded)
    with patchkit.patched(only=ONLY, strict=True):
        fixed = layer(**options)
        infer(fixed)
        assert equal(saved(fixed), loaded)
        infer(fixed)
        assert equal(saved(fixed), loaded)


@kinds
@pytest.mark.parametrize("transposed", [False, True])
def test_dequantized_after_inference(options, transposed: bool) -> None:
    from bitsandbytes.functional import dequantize_4bit

    def dequantized(model) -> torch.Tensor:
        numbers = model.weight.data
        state = model.weight.quant_state
        return dequantize_4bit(numbers.t() if transposed else numbers, state)

    expected = dequantized(layer(**options))
    bare = layer(**options)
    infer(bare)
    assert not torch.equal(dequantized(bare).float(), expected)
    with patchkit.patched(only=ONLY, strict=True):
        fixed = layer(**options)
        assert torch.equal(dequantized(fixed), expected)
        infer(fixed)
        found = dequantized(fixed)
        assert found.dtype == expected.dtype
        assert torch.equal(found, expected)
        assert packed(fixed)
        assert torch.equal(dequantized(fixed), expected)


def test_training_alone_packs_nothing(patched) -> None:
    model = layer()
    weight = model.weight.data_ptr()
    trained(model)
    with torch.no_grad():
        model(inputs())
    assert model.weight.data_ptr() == weight
    assert not packed(model)


def test_a_first_layer_in_evaluation_stays_packed(patched) -> None:
    """What has no gradient to pass keeps its kernel, gradients enabled or not."""
    model = layer()
    model.eval()(inputs())
    assert packed(model)
    numbers = model.weight.data_ptr()
    model(inputs())
    assert packed(model)
    assert model.weight.data_ptr() == numbers


@kinds
def test_copies_and_pickles_of_a_packed_layer(options, patched) -> None:
    expected = trained(layer(**options))
    original = layer(**options)
    infer(original)
    buffer = io.BytesIO()
    torch.save(original, buffer)
    buffer.seek(0)
    for copied in (copy.deepcopy(original), torch.load(buffer, weights_only=False)):
        assert all(map(torch.equal, trained(copied), expected))
    assert packed(original)
    assert all(map(torch.equal, trained(original), expected))


def test_moved_to_another_device() -> None:
    """The meta device stands for a GPU: it has no numbers, but it is not a CPU."""
    bare = layer()
    infer(bare)
    bare.weight.to("meta")
    assert packed(bare)
    with patchkit.patched(only=ONLY, strict=True):
        fixed = layer()
        infer(fixed)
        fixed.to("cpu")
        fixed.weight.to(torch.float32)
        assert packed(fixed)
        moved = fixed.weight.to("meta")
        assert not moved.quant_state.packing_format_for_cpu
        assert moved.device.type == moved.quant_state.absmax.device.type == "meta"


def test_packed_before_apply_and_after_revert() -> None:
    expected = trained(layer())
    early, late = layer(), layer()
    infer(early)
    with patchkit.patched(only=ONLY, strict=True):
        infer(late)
        # Its scales were rounded before we came; its gradient flows.
        torch.testing.assert_close(trained(early)[1], expected[1], rtol=0.05, atol=0.05)
    assert trains_wrongly(late, expected)
    with patchkit.patched(only=ONLY, strict=True):
        assert torch.equal(trained(late)[0], expected[0])


IDS = torch.arange(4, 20).unsqueeze(0)


def lora(folder: Path, **options):
    import peft

    from patchkit.lab import tiny

    path = tiny.build_causal_lm(folder / "model", dtype="float32")
    base = tiny.load(path, quantization="4bit", dtype="float32")
    torch.manual_seed(0)
    config = peft.LoraConfig(target_modules=["q_proj", "down_proj"], **options)
    return ask_for_packing(peft.get_peft_model(base, config))


def logits(model, *, mode: str = "eval") -> torch.Tensor:
    with torch.no_grad():
        return getattr(model, mode)()(input_ids=IDS).logits


def test_lora_learns_the_same_after_an_evaluation(tmp_path: Path) -> None:
    def gradients(model) -> dict[str, torch.Tensor]:
        model.zero_grad()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.train()(input_ids=IDS, labels=IDS).loss.backward()
        named = model.named_parameters()
        return {name: p.grad.clone() for name, p in named if p.grad is not None}

    model = lora(tmp_path, init_lora_weights=False)
    expected = gradients(model)
    with patchkit.patched(only=ONLY, strict=True):
        logits(model)
        assert equal(gradients(model), expected)
    logits(model)
    assert not equal(gradients(model), expected)


def test_dora_and_a_merge_read_the_weight_that_was_packed(tmp_path: Path) -> None:
    def outcome() -> list[float]:
        model = lora(tmp_path, use_dora=True)
        expected = logits(model, mode="train")
        inferred, merged = logits(model), logits(model.merge_and_unload(), mode="train")
        found = [inferred, merged] if has_kernel() else [merged]
        return [(output - expected).abs().max().item() for output in found]

    # Adapters begin with nothing to add: what differs is the kernel's bfloat16, and no more.
    assert min(outcome()) > 0.3
    with patchkit.patched(only=ONLY, strict=True):
        assert max(outcome()) < 0.15


WITHOUT_KERNEL = """\
import os
import wrapt


@wrapt.when_imported("bitsandbytes.cextension")
def lose_the_kernel(module):
    class Library:
        def __init__(self, native):
            self._native = native

        def __getattr__(self, name):
            if name == "has_avx512bf16_cpu":
                raise AttributeError(name)
            return getattr(self._native, name)

    module.lib = Library(module.lib)


@wrapt.when_imported("patchkit.verification.machine")
def lose_the_instructions(module):
    module.PROBES["avx512-bf16"] = lambda: os.path.exists("instructions")
"""
# One process has both machines: it imports the libraries once.
VERIFY = f"""\
import json, pathlib
from patchkit.verification.verification import verify
found = []
for there in (False, True):
    if there:
        pathlib.Path("instructions").touch()
    found.append(verify(["{ONLY}"], fork=True))
print(json.dumps([{{**vars(verdict), "status": each.exit_status}} for each in found for verdict in each]))
"""
MACHINES = {
    "a CPU without AVX512-BF16": ("needs-avx512-bf16", "dequantize_4bit reads the packed"),
    "a build without the kernel": ("fixed", "training reads the packed weight"),
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The library is bitsandbytes' own, less one symbol, as in builds for ARM or CUDA."""
    folder = tmp_path_factory.mktemp("machines")
    (folder / "sitecustomize.py").write_text(WITHOUT_KERNEL)
    done = run_python("-c", VERIFY, folder=folder, PYTHONPATH=python_path(folder))
    assert done.returncode == 0, done.stderr[-4000:]
    return dict(zip(MACHINES, json.loads(done.stdout.splitlines()[-1]), strict=True))


@pytest.mark.parametrize("name", MACHINES)
def test_verify_without_the_kernel(verdicts, name: str) -> None:
    outcome, shown = MACHINES[name]
    verdict = verdicts[name]
    assert (verdict["outcome"], verdict["with_patch"]) == (outcome, "no error"), verdict
    assert shown in verdict["without"]
    assert verdict["status"] == 0


def test_verify_on_this_machine() -> None:
    (verdict,) = verify([ONLY], fork=True)
    shown = "no gradient flows" if has_kernel() else "the packed weight"
    assert shown in verdict.without
