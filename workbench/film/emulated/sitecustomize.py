"""Make a CPU train fp16 as CUDA does, in each Python that runs a script.

It takes the emulation from the checkout that `FILM_CHECKOUT` names, and leaves no module of it
behind: whether patchkit is installed is what the film shows.
"""

from __future__ import annotations

import logging
import os
import sys


def emulate(checkout: str) -> None:
    sys.path.insert(0, checkout)
    from patchkit.lab import cuda_fp16

    cuda_fp16.install()
    sys.path.remove(checkout)
    for name in [name for name in sys.modules if name.partition(".")[0] == "patchkit"]:
        del sys.modules[name]


if len(sys.orig_argv) > 1 and sys.orig_argv[1].endswith(".py"):
    # It misses a kernel that only a CPU would use.
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    emulate(os.environ["FILM_CHECKOUT"])
