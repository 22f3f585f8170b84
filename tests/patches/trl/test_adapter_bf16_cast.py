"""QLoRA adapters in fp16, bf16 and by choice, with every trainer that has the cast."""

from __future__ import annotations

import importlib
import os
import shutil
from pathlib import Path

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.catalogue.resolution import resolve
from patchkit.patch import Status

from ..due import only_if_due

ID = "trl-adapter-bf16-cast"
CUDA_REFUSAL = "\"_amp_foreach_non_finite_check_and_unscale_cuda\" not implemented for 'BFloat16'"
NAMES = {
    "SFTTrainer": "sft",
    "DPOTrainer": "dpo",
    "RewardTrainer": "reward",
    "KTOTrainer": "kto",
    "GRPOTrainer": "grpo",
    "RLOOTrainer": "rloo",
    "DistillationTrainer": "distillation",
}
RESOLUTION = resolve(catalogue.load().entries[ID].patch)
TARGETS = [str(change.target) for change in RESOLUTION.changes if "*" not in change.target]
AFFECTED = [NAMES[target.partition(":")[2].partition(".")[0]] for target in TARGETS]
patches_first = pytest.mark.skipif(
    os.environ.get("PATCHKIT_TEST_PROCESSES") == "shared", reason="only forks here; 1.16 runs it"
)

due = only_if_due(ID, unless_due="trl-fused-loss-without-triton")


@due
@pytest.mark.parametrize("trainer", AFFECTED)
def test_fp16_fails_without_and_trains_with(train, trainer: str) -> None:
    without = train(trainer, patched=False)
    assert not without["ok"]
    assert without["error_type"] == "NotImplementedError"
    assert without["error"] == CUDA_REFUSAL
    outcome = train(trainer, patched=True)
    assert outcome["ok"], outcome
    assert set(outcome["trainable_dtypes"]) == {"float32"}
    assert set(outcome["trainable_dtypes_after"]) == {"float32"}
    assert outcome["changed"] > 0
    record = next(patch for patch in outcome["report"]["patches"] if patch["id"] == ID)
    assert record["status"] == "applied"


@due
@patches_first
def test_fp16_trains_where_patches_come_before_the_libraries(before_libraries) -> None:
    """One trains; the others get the code with which they train in the test above."""
    dtypes, changed, files = before_libraries(
        f"""
        import importlib
        import patchkit
        from patchkit.lab.reproduce import train_in_temporary_folder
        patchkit.apply(strict=True)
        outcome = train_in_temporary_folder({AFFECTED[0]!r})
        files = []
        for target in {TARGETS}:
            module, _, qualname = target.partition(":")
            function = importlib.import_module(module)
            for name in qualname.split("."):
                function = getattr(function, name)
            files.append(function.__code__.co_filename)
        result = [list(outcome.trainable_dtypes_after), outcome.changed > 0, files]
        """
    )
    assert (dtypes, changed) == (["float32"], True)
    modules = (target.partition(":")[0].replace(".", "/") for target in TARGETS)
    assert files == [f"<patchkit>/{module}.py" for module in modules]


@due
def test_fp16_of_each_quantization_and_checkpoint(forked) -> None:
    """From bfloat16 checkpoints, which most are, and one trainer from others."""
    trainings = [
        (trainer, quantization, "bf16")
        for trainer in ("sft", "dpo", "grpo", "reward")
        for quantization in ("4bit-double", "8bit")
        if trainer in AFFECTED
    ]
    trainings += [(AFFECTED[0], "4bit", "fp16"), (AFFECTED[0], "4bit", "fp32")]
    code = """
        import patchkit
        from patchkit.lab.reproduce import train_in_temporary_folder
        {apply}
        result = []
        for trainer, quantization, checkpoint in {trainings}:
            try:
                outcome = train_in_temporary_folder(
                    trainer, quantization=quantization, checkpoint=checkpoint, steps=2
                )
                frozen = {{
                    dtype
                    for kind in outcome.dtypes
                    for dtype in kind.dtypes
                    if kind.kind in ("embedding", "norms", "head")
                }}
                result.append([list(outcome.trainable_dtypes_after), *frozen, outcome.changed > 0])
            except Exception as error:
                result.append(str(error))
    """
    without = forked(code.format(apply="", trainings=trainings))
    assert without == [CUDA_REFUSAL] * len(trainings)
    outcome = forked(code.format(apply="patchkit.apply(strict=True)", trainings=trainings))
    names = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
    assert outcome == [[["float32"], names[checkpoint], True] for *_, checkpoint in trainings]


@due
def test_bf16_reaches_the_same_loss(train) -> None:
    """Within bfloat16's eight bits of precision; the adapters are float32 instead."""
    options = {"precision": "bf16", "steps": 8}
    without = train("sft", patched=False, **options)
    outcome = train("sft", patched=True, **options)
    assert set(without["trainable_dtypes"]) == {"bfloat16"}
    assert set(outcome["trainable_dtypes"]) == {"float32"}
    assert outcome["losses"] == pytest.approx(without["losses"], rel=2**-6)


@due
@pytest.mark.parametrize(("precision", "dtype"), [("bf16", "bfloat16"), ("fp16", "float32")])
def test_upstream_s_cast_by_choice_where_training_is_in_bf16(
    train, precision: str, dtype: str
) -> None:
    env = {"PATCHKIT_ADAPTER_CAST": "bf16"}
    outcome = train("sft", patched=True, precision=precision, env=env)
    assert set(outcome["trainable_dtypes"]) == {dtype}
    if precision == "bf16":
        assert outcome["losses"] == train("sft", patched=False, precision="bf16")["losses"]


@due
def test_without_quantization_nothing_changes(train) -> None:
    outcomes = [train("sft", patched=p, quantization="none", precision="bf16") for p in (0, 1)]
    assert outcomes[0]["losses"] == outcomes[1]["losses"]
    assert outcomes[0]["trainable_dtypes"] == outcomes[1]["trainable_dtypes"]


@due
def test_references_taken_before(forked) -> None:
    """A name imported earlier, a subclass, a bound method and a pickle run the fixed code."""
    files = forked(
        """
        import pickle
        from trl import SFTTrainer

        class Mine(SFTTrainer):
            pass

        bound = SFTTrainer.__new__(SFTTrainer).__init__
        function, pickled = SFTTrainer.__init__, pickle.dumps(SFTTrainer)
        import patchkit
        patchkit.apply(strict=True)
        everything = [Mine.__init__, bound, function, pickle.loads(pickled).__init__]
        result = [function.__code__.co_filename for function in everything]
        """
    )
    assert set(files) == {"<patchkit>/trl/trainer/sft_trainer.py"}


@due
def test_revert_brings_the_crash_back(forked) -> None:
    error, same = forked(
        """
        import patchkit
        from trl import SFTTrainer
        from patchkit.lab.reproduce import train_in_temporary_folder

        code = SFTTrainer.__init__.__code__
        patchkit.apply(only="trl-adapter-bf16-cast", strict=True)
        train_in_temporary_folder("sft")
        patchkit.revert()
        try:
            train_in_temporary_folder("sft")
            error = None
        except Exception as caught:
            error = str(caught)
        result = [error, SFTTrainer.__init__.__code__ is code]
        """
    )
    assert error == CUDA_REFUSAL
    assert same


@due
def test_no_public_trainer_has_a_live_cast(forked) -> None:
    with_cast, walked = forked(
        """
        import ast, importlib, inspect, pkgutil, textwrap
        import patchkit
        patchkit.apply(strict=True)
        import trl
        from patchkit.patches.trl.adapter_bf16_cast import forced_cast
        from patchkit.rewrite import find

        classes = {name: getattr(trl, name) for name in dir(trl) if name.endswith("Trainer")}
        for found in pkgutil.walk_packages(trl.__path__, "trl.", lambda name: None):
            if not found.name.startswith("trl.experimental"):
                continue
            try:
                module = importlib.import_module(found.name)
            except Exception:
                continue  # needs a package that is not here
            for name, value in vars(module).items():
                if name.endswith("Trainer") and isinstance(value, type):
                    classes[f"{found.name}.{name}"] = value
        with_cast = []
        for name, cls in classes.items():
            for base in cls.__mro__:
                if "__init__" in vars(base) and base.__module__.startswith("trl."):
                    source = textwrap.dedent(inspect.getsource(base.__init__))
                    if list(find(ast.parse(source), forced_cast)):
                        with_cast.append(name)
        result = [with_cast, len(classes)]
        """
    )
    assert with_cast == []
    assert walked >= len(AFFECTED)


@due
@patches_first
def test_an_altered_anchor_is_drift_and_stays_untouched(before_libraries, tmp_path: Path) -> None:
    import trl

    copy = tmp_path / "altered" / "trl"
    shutil.copytree(Path(trl.__file__).parent, copy)
    file = copy / "trainer" / "sft_trainer.py"
    text = file.read_text(encoding="utf-8")
    cast = "param.data = param.data.to(torch.bfloat16)"
    assert text.count(cast) == 1
    file.write_text(text.replace(cast, "param.data = param.data.bfloat16()"), encoding="utf-8")
    status, reason, filename, others = before_libraries(
        f"""
        import sys, warnings
        sys.path.insert(0, {str(copy.parent)!r})
        import patchkit
        patchkit.apply(only="{ID}")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            from trl import SFTTrainer, RewardTrainer
        record = patchkit.report()["{ID}"]
        assert any("drifted" in str(warning.message) for warning in caught)
        result = [
            str(record.status),
            record.reason,
            SFTTrainer.__init__.__code__.co_filename,
            RewardTrainer.__init__.__code__.co_filename,
        ]
        """
    )
    assert status == "drifted"
    assert "expected 1 occurrence of the buggy code in SFTTrainer.__init__, found 0" in reason
    assert filename.endswith("altered/trl/trainer/sft_trainer.py")
    assert others == "<patchkit>/trl/trainer/reward_trainer.py"


@due
@patches_first
def test_an_exception_inside_the_patch_leaves_the_import_working(before_libraries) -> None:
    status, filename = before_libraries(
        f"""
        import warnings
        import patchkit
        from patchkit.rewrite import Rule

        def broken(self, source):
            raise ZeroDivisionError("oops")

        Rule.plan = broken
        patchkit.apply(only="{ID}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from trl import SFTTrainer
        result = [
            str(patchkit.report()["{ID}"].status), SFTTrainer.__init__.__code__.co_filename
        ]
        """,
        env={"PATCHKIT_CACHE": "off"},  # what is kept needs no plan
    )
    assert status == "failed"
    assert filename.endswith("sft_trainer.py")


@pytest.mark.skipif(RESOLUTION.verdict is not Status.NOT_AFFECTED, reason="due here")
def test_not_due_leaves_the_very_same_code(forked) -> None:
    same, status = forked(
        f"""
        from trl import SFTTrainer
        code = SFTTrainer.__init__.__code__
        import patchkit
        report = patchkit.apply(strict=True)
        result = [SFTTrainer.__init__.__code__ is code, str(report["{ID}"].status)]
        """
    )
    assert same
    assert status == "not-affected"


@pytest.mark.skipif(RESOLUTION.verdict is not Status.NOT_AFFECTED, reason="due here")
def test_not_due_trains_as_it_is(train) -> None:
    assert train("sft", patched=False)["ok"]
    assert importlib.import_module("trl").__version__ < "0.26"
