"""Classes and functions for the Hub that huggingface_hub and Transformers dropped."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..errors import GoneError


class HfFolder:
    """The token for the Hub, which `login` saves."""

    @classmethod
    def path_token(cls) -> Path:
        from huggingface_hub.constants import HF_TOKEN_PATH

        return Path(HF_TOKEN_PATH)

    @classmethod
    def get_token(cls) -> str | None:
        from huggingface_hub import get_token

        token: str | None = get_token()
        return token

    @classmethod
    def save_token(cls, token: str) -> None:
        """Save a token in the file that is looked at."""
        path = cls.path_token()
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(token)

    @classmethod
    def delete_token(cls) -> None:
        """Remove the file with the token, if it is there."""
        cls.path_token().unlink(missing_ok=True)


class Repository:
    """A clone of a repository, which scripts import whether they push or not.

    Raises:
        GoneError: always.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise GoneError(
            "huggingface_hub.Repository has been gone since huggingface_hub 1.0.0. Push without a "
            "clone: HfApi().upload_folder(repo_id=…, folder_path=…)."
        )


def get_full_repo_name(
    model_id: str, organization: str | None = None, token: str | None = None
) -> str:
    """Return the name of a repository with its owner: the organization, or whom the token is of."""
    from huggingface_hub import whoami

    return f"{organization or whoami(token=token)['name']}/{model_id}"


def send_example_telemetry(
    example_name: str, *example_args: Any, framework: str = "pytorch"
) -> None:
    """Do nothing: examples no longer send anything."""
