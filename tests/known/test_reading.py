"""Reading what people paste: the same error in every costume."""

from __future__ import annotations

import html
import json

import pytest

from patchkit.known.pasted import Frame
from patchkit.known.reading import UnreadableText, read

MESSAGE = "expected mat1 and mat2 to have the same dtype, but got: float != c10::BFloat16"
LIBRARY = "/usr/local/lib/python3.11/site-packages/peft/tuners/lora/layer.py"
PLAIN = f"""Traceback (most recent call last):
  File "/home/me/train.py", line 31, in <module>
    trainer.train()
  File "{LIBRARY}", line 771, in forward
    result = result + lora_B(lora_A(dropout(x))) * scaling
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
RuntimeError: {MESSAGE}
"""
JUPYTER = f"""---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
Cell In[12], line 3
      1 trainer = SFTTrainer(model, args=args)
----> 3 trainer.train()

File {LIBRARY}:771, in Linear.forward(self, x, *args, **kwargs)
    770 x = self._cast(x)
--> 771 result = result + lora_B(lora_A(dropout(x))) * scaling

RuntimeError: {MESSAGE}
"""
COLAB = f"""---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
<ipython-input-3-3435b262f1ae> in <cell line: 1>()
----> 1 trainer.train()

[{LIBRARY}](https://localhost:8080/#) in forward(self, x, *args, **kwargs)
    770     x = self._cast(x)
--> 771     result = result + lora_B(lora_A(dropout(x))) * scaling

RuntimeError: {MESSAGE}"""
RICH = f"""╭─────────────────── Traceback (most recent call last) ───────────────────╮
│ /home/me/train.py:31 in <module>                                        │
│                                                                         │
│   30                                                                    │
│ ❱ 31 trainer.train()                                                    │
│ {LIBRARY}:771 in forward │
│                                                                         │
│   770 │   x = self._cast(x)                                             │
│ ❱ 771 │   result = result + lora_B(lora_A(dropout(x))) * scaling        │
╰─────────────────────────────────────────────────────────────────────────╯
RuntimeError: expected mat1 and mat2 to have the same dtype, but got: float !=
c10::BFloat16
"""
PYTEST = f"""    def test_training():
>       trainer.train()

tests/test_training.py:12:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
/usr/lib/python3.11/site-packages/transformers/trainer.py:2325: in train
    return inner_training_loop(
E       RuntimeError: {MESSAGE}

{LIBRARY}:771: RuntimeError
=========================== short test summary info ===========================
"""
PYTEST_SHORT = f"""tests/test_training.py:12: in test_training
    trainer.train()
{LIBRARY}:771: in forward
    result = result + lora_B(lora_A(dropout(x))) * scaling
E   RuntimeError: {MESSAGE}
"""
LOG = f"""2026-11-22 18:04:20,123 INFO loading
{{'loss': 1.2, 'grad_norm': 0.3}}
  0%|          | 0/10 [00:01<?, ?it/s]
{PLAIN}  0%|          | 0/10 [00:01<?, ?it/s]
wandb: You can sync this run to the cloud by running:
wandb: wandb sync /tmp/run
"""
TORCHRUN = (
    "\n".join(f"[rank0]: {line}" for line in PLAIN.splitlines())
    + """
E1122 18:04:21.123000 1234 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1)
Traceback (most recent call last):
  File "/usr/local/bin/torchrun", line 8, in <module>
    sys.exit(main())
  File "/usr/local/lib/python3.11/site-packages/torch/distributed/launcher/api.py", line 264, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  exitcode  : 1 (pid: 1234)
============================================================
"""
)
INTERLEAVED = "\n".join(f"[rank{rank}]: {line}" for line in PLAIN.splitlines() for rank in (1, 0))
CHAIN = f"""Traceback (most recent call last):
  File "/home/me/train.py", line 3, in <module>
    cache["x"]
KeyError: 'x'

During handling of the above exception, another exception occurred:

{PLAIN}"""
COSTUMES = {
    "plain": PLAIN,
    "jupyter": JUPYTER,
    "colab": COLAB,
    "rich": RICH,
    "pytest, short": PYTEST_SHORT,
    "log": LOG,
    "torchrun": TORCHRUN,
    "interleaved ranks": INTERLEAVED,
    "chain": CHAIN,
    "windows": PLAIN.replace("\n", "\r\n"),
    "colours": PLAIN.replace("RuntimeError", "\x1b[1;35mRuntimeError\x1b[0m"),
    "numbers": "\n".join(f"{n:4} | {line}" for n, line in enumerate(PLAIN.splitlines(), 1)),
    "wandb": "\n".join(f"wandb: {line}" for line in PLAIN.splitlines()),
    "mail": "\n".join(f"> {line}" for line in PLAIN.splitlines()),
    "times": "\n".join(f"2026-11-22T18:04:20.123Z {line}" for line in PLAIN.splitlines()),
    "Ray": "\n".join(f"(Worker pid=42, ip=10.0.0.1) {line}" for line in PLAIN.splitlines()),
    "JSON": json.dumps({"log": f"{PLAIN} ", "stream": "stderr"}),
    "HTML": html.escape(PLAIN),
    "HTML of a notebook": html.escape(PLAIN).replace(
        "RuntimeError", "<span class='ansi-red-fg'>RuntimeError</span>"
    ),
    "Markdown": f"```python\n{PLAIN}```",
    "indented": "\n".join(f"    {line}" for line in PLAIN.splitlines()),
    "one line": " ".join(PLAIN.split()),
    "interrupted afterwards": PLAIN + "\n^CTraceback (most recent call last):\nKeyboardInterrupt\n",
}


@pytest.mark.parametrize("costume", COSTUMES)
def test_every_costume(costume: str) -> None:
    error = read(COSTUMES[costume]).error
    assert error.name == "RuntimeError"
    assert error.message.replace(" ", "").startswith(MESSAGE.replace(" ", ""))
    assert (error.frames[-1].library, error.frames[-1].place) == (
        "peft",
        "peft/tuners/lora/layer.py",
    )
    assert error.frames[-1].function.rpartition(".")[2] == "forward"


def test_pytest_names_the_line_that_raised_below_the_error() -> None:
    (error,) = read(PYTEST).errors
    assert error.message == MESSAGE
    assert [frame.library for frame in error.frames] == ["", "transformers", "peft"]


def test_the_last_real_error_comes_first() -> None:
    read_chain = read(CHAIN)
    assert [error.name for error in read_chain.errors] == ["RuntimeError", "KeyError"]


ASSERTED = "assert absmax is not None and out is not None"
# What stands before each line: hosts, pods, containers and loggers of vLLM, MPI, Slurm and others.
BEGINNINGS = (
    "29.127.65.230: [rank0]: ",
    "trainer-free-0: [rank4]: ",
    "4: [rank4]: ",
    "worker-1: ",
    "ERROR 08-13 04:39:39 engine.py:400] ",
    "2025-08-13 04:39:39,838 - __main__ - INFO - ERROR 08-13 04:39:39 engine.py:400] ",
    "(EngineCore_0 pid=1234) ERROR 10-01 12:00:00 [core.py:632] ",
    "2024-05-01 10:20:30.123 | ERROR    | __main__:main:12 - ",
    "tgi-1  | 2024-07-05T20:54:34.205108Z  INFO text_generation_launcher: ",
    "2024-12-07T11:02:42Z stderr F ",
    "[1,mpirank:0,algo-1]<stderr>:",
    "Nov 23 10:00:00 host python[123]: ",
    "[01:17:10.938]: W1024 01:17:10.936000 140404233111360 torch/_dynamo/convert_frame.py:1009] ",
)
COSTUMES |= {
    begin.strip(): "".join(f"{begin}{line}\n" for line in PLAIN.splitlines())
    for begin in BEGINNINGS
}
COSTUMES["debugger of VS Code"] = (
    f"Exception has occurred: RuntimeError\n{MESSAGE}\n" + PLAIN.split("\n", 1)[1]
)
BARE_ASSERTIONS = {
    "debugger of VS Code": f"""Exception has occurred: AssertionError
exception: no description
  File "/x/bitsandbytes/functional.py", line 998, in dequantize_4bit
    {ASSERTED}
AssertionError:
""",
    "plain": f"""  File "/x/bitsandbytes/functional.py", line 998, in dequantize_4bit
    {ASSERTED}
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
AssertionError
""",
    "jupyter": f"""File /x/bitsandbytes/functional.py:998, in dequantize_4bit(A)
    997 else:
--> 998     {ASSERTED}
   1000 return out

AssertionError:
""",
    "rich": f"""│ /x/bitsandbytes/functional.py:998 in dequantize_4bit │
│    997 │   else:                                                │
│ ❱  998 │   │   {ASSERTED}      │
│    999 │                                                        │
╰───────────────────────────────────────────────────────────────╯
AssertionError
""",
}


@pytest.mark.parametrize("costume", BARE_ASSERTIONS)
def test_an_assertion_without_a_message_says_what_failed(costume: str) -> None:
    assert read(BARE_ASSERTIONS[costume]).error.message.endswith(ASSERTED)


def test_an_assertion_with_a_message_keeps_it() -> None:
    text = "    assert x > 0, words\nAssertionError: x is small\n"
    assert read(text).error.message == "x is small"


def test_a_launchers_summary_belongs_to_its_error() -> None:
    error = read(TORCHRUN[TORCHRUN.rindex("Traceback") :]).error
    assert error.is_launchers
    assert "exitcode : 1" in error.after


def test_a_launcher_alone() -> None:
    assert read("subprocess.CalledProcessError: Command died").error.is_launchers


WATCHDOG = "[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7)"
ABORTED = f"""[rank1]:[E602 11:18:53.865 ProcessGroupNCCL.cpp:632] {WATCHDOG}
[rank1]:[E602 11:18:54.001 ProcessGroupNCCL.cpp:684] [Rank 1] Some NCCL operations have failed.
terminate called after throwing an instance of 'c10::DistBackendError'
  what():  [Rank 1] Process group watchdog thread terminated with exception
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
Root Cause (first observed failure):
  exitcode  : -6 (pid: 3521)
"""


def test_what_the_watchdog_says_comes_before_a_launchers_summary() -> None:
    assert read(ABORTED).error.message == WATCHDOG
    assert read(ABORTED.replace("-6", "-9")).error.is_launchers
    assert read(ABORTED + PLAIN).error.name == "RuntimeError"


@pytest.mark.parametrize(
    "follower",
    [
        "RuntimeError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via "
        "c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer",
        "torch.distributed.DistBackendError: NCCL error, remote process exited",
        "ncclRemoteError: A call failed possibly due to a network error.",
    ],
)
def test_a_rank_that_waited_for_another_comes_last(follower: str) -> None:
    text = f"{PLAIN}Traceback (most recent call last):\n{follower}\n"
    assert read(text).error.message == MESSAGE
    summary = ABORTED[ABORTED.index("torch.distributed") :]
    assert read(f"{follower}\n{summary}").error.message in follower
    assert "exitcode : -9" in read(f"{follower}\n{summary.replace('-6', '-9')}").error.after


def test_the_reason_of_an_abort_is_the_error() -> None:
    text = "terminate called after throwing an instance of 'c10::Error'\n  what():  CUDA error: x"
    assert read(text).error.message == "CUDA error: x"


def test_a_launchers_log_is_no_part_of_the_message_above_it() -> None:
    text = f"{PLAIN}ERROR:torch.distributed:failed (exitcode: -6) local_rank: 1\n"
    assert read(text).error.message == MESSAGE


def test_a_warning_counts_only_where_there_is_no_error() -> None:
    warning = "/x/peft/tuners/lora/bnb.py:365: UserWarning: it rounds\n  warnings.warn(\n"
    assert read(warning).error.message.startswith("it rounds")
    assert read(warning).error.frames[0].library == "peft"
    assert read(warning + PLAIN).error.name == "RuntimeError"


@pytest.mark.parametrize(
    ("file", "library", "place"),
    [
        ("/x/lib/python3.11/site-packages/trl/trainer/utils.py", "trl", "trl/trainer/utils.py"),
        (r"C:\x\Lib\site-packages\trl\trainer\utils.py", "trl", "trl/trainer/utils.py"),
        (
            "/src/transformers/src/transformers/trainer.py",
            "transformers",
            "transformers/trainer.py",
        ),
        ("/verl/verl/models/transformers/patch.py", "verl", "verl/models/transformers/patch.py"),
        ("/home/me/train.py", "", "train.py"),
        (
            "/home/me/.cache/huggingface/modules/transformers_modules/org/m/abc/modeling_m.py",
            "transformers_modules",
            "transformers_modules/org/m/abc/modeling_m.py",
        ),
        (
            "/w/unsloth_compiled_cache/UnslothSFTTrainer.py",
            "unsloth",
            "unsloth/UnslothSFTTrainer.py",
        ),
    ],
)
def test_whose_file(file: str, library: str, place: str) -> None:
    frame = Frame(file.replace("\\", "/"))
    assert (frame.library, frame.place) == (library, place)


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("transformers==4.46.2 trl 0.12.0", {"transformers": "4.46.2", "trl": "0.12.0"}),
        ("- transformers version: 4.57.0.dev0", {"transformers": "4.57.0.dev0"}),
        ("* `peft`: 0.18.1\nPython version: 3.11.4", {"peft": "0.18.1", "python": "3.11"}),
        ("unsloth_zoo-2025.3.1", {"unsloth-zoo": "2025.3.1"}),
        ("site-packages/torch/nn/modules/module.py:1.5", {}),
    ],
)
def test_versions(text: str, versions: dict[str, str]) -> None:
    assert dict(read(text).versions) == versions


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        (" \n\x1b[0m\n", "empty"),
        ("PK\x03\x04\x00\x00\x00\x08" * 400, "not text"),
        ("Exception in thread main\n\tat com.foo.Bar.run(Bar.java:12)\n", "Java"),
        ("TypeError: x is not a function\n    at Object.<anonymous> (/a/b.js:3:9)\n", "JavaScript"),
        ("PHP Fatal error: Uncaught TypeError: no text in /var/www/a.php:3\n", "PHP"),
        ("ERROR: LoadError: UndefVarError: x\nStacktrace:\n [1] top-level scope\n", "Julia"),
        ("thread 'main' panicked at src/main.rs:4:5:\nboom\n", "Rust"),
        ("panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n", "Go"),
    ],
)
def test_what_is_no_error_of_python(text: str, says: str) -> None:
    with pytest.raises(UnreadableText, match=says):
        read(text)


def test_a_huge_log_is_read_from_its_end() -> None:
    assert read("x = 1\n" * 3_000_000 + PLAIN).error.message == MESSAGE


@pytest.mark.parametrize("begin", ["[core.py:718] ", "worker_base.py:574] "])
def test_lines_of_vllms_logger_without_the_beginning_of_the_traceback(begin: str) -> None:
    begin = f"(EngineCore_DP0 pid=268) ERROR 09-16 20:57:00 {begin}"
    lines = (
        '  File "/x/site-packages/vllm/model.py", line 5, in load_weights',
        "KeyError: 'g_idx'",
    )
    error = read("\n".join(f"{begin}{line}" for line in lines)).error
    assert (error.type, error.message) == ("KeyError", "'g_idx'")
    assert error.frames == (Frame("/x/site-packages/vllm/model.py", "load_weights"),)
