"""The frameworks: a file for each says how it is configured and started."""

from __future__ import annotations

from ..framework import Framework
from . import autotrain, axolotl, llama_factory, ms_swift, older, oumi, scripts, trl_command

FRAMEWORKS: dict[str, Framework] = {
    framework.name: framework
    for framework in (
        llama_factory.FRAMEWORK,
        ms_swift.FRAMEWORK,
        axolotl.FRAMEWORK,
        autotrain.FRAMEWORK,
        oumi.FRAMEWORK,
        trl_command.FRAMEWORK,
        *scripts.FRAMEWORKS,
        *older.FRAMEWORKS,
    )
}
