"""`patchkit run` around a real launcher: two ranks of a script that knows nothing of patchkit.

workbench/ranks/with_libraries/test_ranks.py has two that torchrun starts and that train to the end.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from patchkit.lab import tiny

from ..patches.due import only_if_due

pytestmark = only_if_due("trl-adapter-bf16-cast")
TIMEOUT = 240

# CUDA's fp16 path, which a GPU would bring with it.
MACHINE = "from patchkit.lab import cuda_fp16\n\ncuda_fp16.install()\n"
SCRIPT = """
import os, sys
import torch
import this_machine
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig, TrainerCallback
from trl import SFTConfig, SFTTrainer

folder = sys.argv[1]


class Tell(TrainerCallback):
    def on_step_end(self, args, state, control, **_):
        if state.global_step == 2:
            print(f"\\nrank {os.environ['RANK']} trains in process {os.getpid()}\\n", flush=True)


model = AutoModelForCausalLM.from_pretrained(
    folder,
    device_map={"": "cpu"},
    quantization_config=BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_compute_dtype=torch.float16,
    ),
)
trainer = SFTTrainer(
    model=model,
    args=SFTConfig(
        output_dir="output",
        fp16=True,
        bf16=False,
        use_cpu=True,
        max_steps=100_000,
        logging_steps=100_000,
        disable_tqdm=True,
        report_to=[],
        save_strategy="no",
        ddp_find_unused_parameters=False,
    ),
    train_dataset=Dataset.from_list([{"text": "one two three"}] * 64),
    processing_class=AutoTokenizer.from_pretrained(folder),
    peft_config=LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM"),
    callbacks=[Tell()],
)
trainer.train()
"""
# What a launcher makes of Ctrl-C does not depend on what its ranks do.
WAITING = """
import os, sys, time
assert ("patchkit" in sys.modules) is bool(sys.argv[1:])
print(f"\\nrank {os.environ['RANK']} trains in process {os.getpid()}\\n", flush=True)
time.sleep(1000)
"""
# The name means a launch of several ranks on one machine; without a GPU they are on its CPU.
LAUNCHER = (
    "accelerate launch --multi_gpu --num_processes 2 --num_machines 1 "
    "--mixed_precision no --dynamo_backend no --main_process_port {port} wait.py"
)
RUN = [sys.executable, "-m", "patchkit", "run", "--strict", "--"]

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("training")
    (made / "this_machine.py").write_text(MACHINE)
    (made / "train.py").write_text(SCRIPT)
    (made / "wait.py").write_text(WAITING)
    tiny.go_offline()
    tiny.build_causal_lm(made)
    return made


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """Starts a launcher as the leader of a process group, as a shell does."""
    started = []

    def begin(*, patched: bool):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = LAUNCHER.format(port=port).split()
        if patched:
            command = [*RUN, *command, "patched"]
        else:
            command[0] = str(Path(sys.executable).with_name(command[0]))
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            start_new_session=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        # A rank that waits for one that died would outlive its launcher.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_two_ranks_crash_without(two_ranks, folder: Path) -> None:
    model = str(tiny.build_causal_lm(folder))
    done = two_ranks(str(folder / "train.py"), model)
    assert done.returncode == 1
    assert "not implemented for 'BFloat16'" in done.stderr


def interrupted(process: subprocess.Popen[str]) -> tuple[int, str]:
    """What Ctrl-C makes of it while its ranks work: the exit status, and what was said."""
    assert process.stdout is not None
    said, ranks = "", {}
    for line in process.stdout:
        said += line
        ranks.update(re.findall(r"rank (\d) trains in process (\d+)", line))
        if len(ranks) == 2:
            break
    assert len(ranks) == 2, said[-4000:]
    os.killpg(process.pid, signal.SIGINT)
    said += process.communicate(timeout=TIMEOUT)[0]
    deadline = time.monotonic() + TIMEOUT
    for pid in ranks.values():
        with contextlib.suppress(ProcessLookupError):
            while time.monotonic() < deadline:
                os.kill(int(pid), 0)
                time.sleep(0.05)
            pytest.fail(f"rank {pid} is still there")
    return process.returncode, said


def test_ctrl_c_in_the_middle(start: Start) -> None:
    """All ranks are gone, and the exit status is what it is without patchkit."""
    without, _ = interrupted(start(patched=False))
    status, said = interrupted(start(patched=True))
    assert status == without != 0
    assert "KeyboardInterrupt" in said
