"""Workers of Ray Train: `patchkit run` reaches them, `apply` in the driver does not."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from ..processes import run_python

pytest.importorskip("ray")

SCRIPT = """
import sys
import ray
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchConfig, TorchTrainer

{driver}


def train():
    {worker}
    import accelerate
    from ray.train import get_context

    patchkit = sys.modules.get("patchkit")
    status = patchkit.report()["accelerate-gradscaler-guard"].status if patchkit else "absent"
    print("rank", get_context().get_world_rank(), "has", status, flush=True)


ray.init("local", include_dashboard=False, num_cpus=4, runtime_env={environment})
TorchTrainer(
    train,
    torch_config=TorchConfig(backend="gloo"),
    scaling_config=ScalingConfig(num_workers=2, use_gpu=False),
    run_config=RunConfig(storage_path=sys.argv[1]),
).fit()
"""
APPLY = "import patchkit; patchkit.apply()"
RUN = ("-m", "patchkit", "run", "--")
# A machine with other work starts processes slowly.
PATIENCE = {"RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "300", "RAY_USAGE_STATS_ENABLED": "0"}


def statuses(
    folder: Path,
    *command: str,
    driver: str = "",
    worker: str = "pass",
    environment: dict[str, str] | None = None,
) -> set[tuple[str, str]]:
    """What each rank says of a patch that is due."""
    file = folder / "train.py"
    file.write_text(SCRIPT.format(driver=driver, worker=worker, environment=environment or {}))
    done = run_python(*command, file, folder / "storage", folder=folder, **PATIENCE)
    assert done.returncode == 0, done.stderr[-4000:]
    return set(re.findall(r"rank (\d) has ([\w-]+)", done.stdout + done.stderr))


def both(status: str) -> set[tuple[str, str]]:
    return {("0", status), ("1", status)}


def test_run_reaches_them(tmp_path: Path) -> None:
    assert statuses(tmp_path, *RUN, sys.executable) == both("applied")


def test_apply_in_the_function_that_trains(tmp_path: Path) -> None:
    assert statuses(tmp_path, worker=APPLY) == both("applied")


def test_apply_in_the_driver_does_not_reach_them(tmp_path: Path) -> None:
    """They are no forks of it: a process of Ray starts them."""
    assert statuses(tmp_path, driver=APPLY) == both("absent")


def test_a_setup_hook(tmp_path: Path) -> None:
    """It reaches workers of a cluster that runs already, too."""
    hook = {"worker_process_setup_hook": "patchkit.apply"}
    assert statuses(tmp_path, environment=hook) == both("applied")
