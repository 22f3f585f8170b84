"""What Transformers' example scripts called."""

from __future__ import annotations

from typing import Any


def send_example_telemetry(
    example_name: str, *example_args: Any, framework: str = "pytorch"
) -> None:
    """Do nothing: examples send nothing any more."""
