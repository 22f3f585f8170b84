"""Reproducers in forks of one process that has imported the libraries.

An import takes seconds and most reproducers less than one, so this is many times quicker than
processes of their own. Patches then meet libraries that are loaded already.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from multiprocessing.connection import Connection, wait
from typing import Any

from .errors import UsageError
from .local_patches import VARIABLE

PRELOADED = [
    "accelerate",
    "bitsandbytes",
    "datasets",
    "peft",
    "transformers.models.llama.modeling_llama",
    "transformers.trainer",
    "trl.trainer.reward_trainer",
    "trl.trainer.sft_trainer",
]

_LEAVE = 10
"""Seconds that a process has to end by itself, once it has said what came of it."""


def run(patch_id: str, *, patched: bool, timeout: float, patches: str = "") -> dict[str, Any]:
    """What `patchkit.reproduce.outcome` says in a fork.

    Args:
        patch_id: the patch.
        patched: whether to apply it first, and nothing else.
        timeout: seconds.
        patches: the value of `PATCHKIT_PATCHES` there.

    Raises:
        UsageError: this platform does not fork.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        raise UsageError(f"processes cannot be forked on {sys.platform}; leave `fork` out")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(theirs, patch_id, patched, patches))
    process.start()
    theirs.close()
    try:
        # The pipe is ready when the outcome is there, and when its other end is gone.
        if not wait([ours], timeout):
            return {"outcome": "error", "message": f"took more than {timeout:g} s"}
        found: dict[str, Any] = ours.recv()
    except EOFError:
        process.join()
        return {"outcome": "error", "message": f"died with exit code {process.exitcode}"}
    else:
        process.join(_LEAVE)
        return found
    finally:
        process.kill()
        process.join()
        ours.close()


def _report(connection: Connection, patch_id: str, patched: bool, patches: str) -> None:
    from .reproduce import outcome

    # The environment is that of the process which was forked, and may be older.
    os.environ[VARIABLE] = patches
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    connection.send(outcome(patch_id, patched=patched))
