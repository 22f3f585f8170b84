"""Tiny real models, real training arguments, and hardware that is described, not probed."""

from __future__ import annotations

import contextlib
import os
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from patchkit.inspection.findings import Findings
from patchkit.inspection.hardware import Hardware
from patchkit.inspection.preflight import inspect
from patchkit.inspection.subject import subject
from patchkit.known.answering import answered
from patchkit.known.reading import read

A100 = Hardware("cuda", "NVIDIA A100", (8, 0))


def assert_explained(error: Exception | str, finding: str) -> None:
    """Check that what is known of an error leads to a finding."""
    text = error if isinstance(error, str) else "".join(traceback.format_exception(error))
    answers = answered(read(text), lambda _: None).answers
    assert finding in {name for answer in answers for name in answer.preflight}


@pytest.fixture(scope="session", autouse=True)
def quiet_libraries() -> None:
    from patchkit.lab import tiny

    tiny.go_offline()
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Transformers 4 leaves its precision in the environment, Accelerate in a class.

    Tests of other folders that share the process may have left theirs.
    """
    from accelerate.state import AcceleratorState

    import patchkit

    before = os.environ.pop("ACCELERATE_MIXED_PRECISION", None)
    AcceleratorState._reset_state(reset_partial_state=True)
    yield
    patchkit.revert()
    os.environ.pop("ACCELERATE_MIXED_PRECISION", None)
    if before is not None:
        os.environ["ACCELERATE_MIXED_PRECISION"] = before
    AcceleratorState._reset_state(reset_partial_state=True)


class Make:
    """Makes what a training is made of."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def model(self, dtype: str = "bfloat16", quantization: str = "none", **config: Any) -> Any:
        from patchkit.lab import tiny

        if not config:
            path = tiny.build_causal_lm(self.folder / "model")
            return tiny.load(path, quantization=quantization, dtype=dtype)  # type: ignore[arg-type]
        import transformers

        path = self.folder / "-".join(map(str, config))
        if not path.exists():
            shape = {"vocab_size": 64, "hidden_size": 64, "intermediate_size": 64}
            small = {"num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2}
            made = transformers.LlamaConfig(**{**shape, **small, **config})
            transformers.LlamaForCausalLM(made).save_pretrained(path)
        return tiny.load(path, quantization=quantization, dtype=dtype)  # type: ignore[arg-type]

    def lora(self, dtype: str = "bfloat16", quantization: str = "none", **options: Any) -> Any:
        import peft

        config = options.pop("config", {})
        model = self.model(dtype, quantization, **config)
        given = {"r": 2, "target_modules": ["q_proj", "v_proj"], "task_type": "CAUSAL_LM"}
        return peft.get_peft_model(model, peft.LoraConfig(**{**given, **options}))

    def args(self, precision: str = "", **options: Any) -> Any:
        import transformers

        flags = {"fp16": precision == "fp16", "bf16": precision == "bf16"}
        return transformers.TrainingArguments(
            str(self.folder / "output"), use_cpu=True, report_to=[], **{**flags, **options}
        )

    @contextlib.contextmanager
    def trainer(self, model: Any, precision: str = "", **options: Any) -> Iterator[Any]:
        """A `transformers.Trainer` on CUDA's fp16 path."""
        import transformers

        from patchkit.lab import cuda_fp16

        with cuda_fp16.cuda_fp16_on_cpu():
            import torch

            ids = torch.arange(4, 20)
            yield transformers.Trainer(
                model=model,
                args=self.args(
                    precision,
                    **{"max_steps": 1, "save_strategy": "no", "disable_tqdm": True, **options},
                ),
                train_dataset=[{"input_ids": ids, "labels": ids}] * 8,
            )


@pytest.fixture(scope="session")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    return Make(tmp_path_factory.mktemp("preflight"))


@pytest.fixture
def look() -> Callable[..., Findings]:
    """A preflight of what would train on a GPU that is described, less what versions say."""

    def run(
        model: Any = None,
        args: Any = None,
        optimizer: Any = None,
        *,
        hardware: Hardware = A100,
        fix: bool = False,
    ) -> Findings:
        found = inspect(subject(model, args, optimizer), fix=fix, hardware=hardware)
        kept = [finding for finding in found if finding.id != "unfixed-bugs"]
        assert not [finding.id for finding in kept if finding.id.startswith("unchecked")]
        return Findings(kept, found.looked_at)

    return run
