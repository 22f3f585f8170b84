"""What Transformers' example scripts called."""

from __future__ import annotations

from typing import Any


def send_example_telemetry(
    example_name: str, *example_args: Any, framework: str = "pytorch"
) -> None:
    """Do nothing: examples send nothing any more."""


def get_full_repo_name(
    model_id: str, organization: str | None = None, token: str | None = None
) -> str:
    """Return the name of a repository with its owner: whom the token belongs to, if nobody else."""
    import huggingface_hub

    owner = organization or huggingface_hub.whoami(token)["name"]
    return f"{owner}/{model_id}"
