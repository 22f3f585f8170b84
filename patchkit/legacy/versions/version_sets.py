"""Sets of versions that work together, for scripts that need what is gone."""

from __future__ import annotations

from ..changes import Change, Form, Gone

SETS: tuple[str, ...] = (
    (
        "trl==0.7.11 transformers==4.38.2 peft==0.9.0 accelerate==0.27.2"
        " bitsandbytes==0.48.2 datasets==2.18.0 numpy==1.26.4 pyarrow==15.0.2 rich==15.0.0"
    ),
    (
        "trl==0.9.6 transformers==4.42.4 peft==0.11.1 accelerate==0.32.1"
        " bitsandbytes==0.48.2 datasets==2.20.0 numpy==1.26.4 pyarrow==17.0.0 rich==15.0.0"
    ),
    (
        "trl==0.11.4 transformers==4.44.2 peft==0.12.0 accelerate==0.34.2"
        " bitsandbytes==0.48.2 datasets==2.21.0 numpy==1.26.4 pyarrow==17.0.0 rich==15.0.0"
    ),
    (
        "trl==0.12.0 transformers==4.46.3 peft==0.15.0 accelerate==1.0.1"
        " bitsandbytes==0.46.1 datasets==3.0.2"
    ),
    (
        "trl==0.13.0 transformers==4.47.1 peft==0.14.0 accelerate==1.2.1"
        " bitsandbytes==0.48.2 datasets==3.2.0 numpy==1.26.4 pyarrow==17.0.0 rich==15.0.0"
    ),
    (
        "trl==0.15.2 transformers==4.49.0 peft==0.15.1 accelerate==1.4.0"
        " bitsandbytes==0.46.1 datasets==3.3.2"
    ),
    (
        "trl==0.16.1 transformers==4.51.3 peft==0.15.2 accelerate==1.6.0"
        " bitsandbytes==0.46.1 datasets==3.5.0"
    ),
    (
        "trl==0.17.0 transformers==4.52.4 peft==0.15.2 accelerate==1.7.0"
        " bitsandbytes==0.46.1 datasets==3.6.0"
    ),
    (
        "trl==0.18.0 transformers==4.53.3 peft==0.16.0 accelerate==1.8.1"
        " bitsandbytes==0.46.1 datasets==3.6.0"
    ),
    (
        "trl==0.19.1 transformers==4.53.3 peft==0.16.0 accelerate==1.8.1"
        " bitsandbytes==0.46.1 datasets==3.6.0"
    ),
    (
        "trl==0.20.0 transformers==4.54.1 peft==0.16.0 accelerate==1.9.0"
        " bitsandbytes==0.46.1 datasets==4.0.0"
    ),
    (
        "trl==0.21.0 transformers==4.55.4 peft==0.17.0 accelerate==1.10.0"
        " bitsandbytes==0.47.0 datasets==4.0.0"
    ),
    (
        "trl==0.22.2 transformers==4.56.2 peft==0.17.1 accelerate==1.10.1"
        " bitsandbytes==0.47.0 datasets==4.0.0"
    ),
    (
        "trl==0.23.1 transformers==4.56.2 peft==0.17.1 accelerate==1.10.1"
        " bitsandbytes==0.48.1 datasets==4.1.1"
    ),
    (
        "trl==0.24.0 transformers==4.57.1 peft==0.17.1 accelerate==1.11.0"
        " bitsandbytes==0.48.2 datasets==4.2.0"
    ),
    (
        "trl==0.25.1 transformers==4.57.3 peft==0.18.0 accelerate==1.12.0"
        " bitsandbytes==0.48.2 datasets==4.4.1"
    ),
    (
        "trl==0.26.2 transformers==4.57.6 peft==0.18.0 accelerate==1.12.0"
        " bitsandbytes==0.49.0 datasets==4.4.1"
    ),
    (
        "trl==0.27.2 transformers==4.57.6 peft==0.18.1 accelerate==1.12.0"
        " bitsandbytes==0.49.1 datasets==4.5.0"
    ),
    (
        "trl==0.28.0 transformers==5.1.0 peft==0.18.1 accelerate==1.12.0"
        " bitsandbytes==0.49.1 datasets==4.5.0"
    ),
    (
        "trl==0.29.1 transformers==5.0.0 peft==0.18.1 accelerate==1.12.0"
        " bitsandbytes==0.49.2 datasets==4.5.0"
    ),
    (
        "trl==1.0.0 transformers==5.3.0 peft==0.18.1 accelerate==1.13.0"
        " bitsandbytes==0.49.2 datasets==4.7.0"
    ),
    (
        "trl==1.3.0 transformers==5.7.0 peft==0.19.0 accelerate==1.13.0"
        " bitsandbytes==0.49.2 datasets==4.8.0"
    ),
    (
        "trl==1.6.0 transformers==5.12.0 peft==0.19.1 accelerate==1.14.0"
        " bitsandbytes==0.49.2 datasets==4.8.0"
    ),
    (
        "trl==1.7.1 transformers==5.13.0 peft==0.19.1 accelerate==1.14.0"
        " bitsandbytes==0.49.2 datasets==4.8.0"
    ),
    (
        "trl==1.9.2 transformers==5.16.0 peft==0.20.0 accelerate==1.14.0"
        " bitsandbytes==0.50.0 datasets==5.0.0"
    ),
    (
        "trl==1.12.0 transformers==5.18.0 peft==0.20.0 accelerate==1.14.0"
        " bitsandbytes==0.50.0 datasets==5.0.0"
    ),
    (
        "trl==1.14.2 transformers==5.20.2 peft==0.21.0 accelerate==1.14.0"
        " bitsandbytes==0.50.1 datasets==5.1.0"
    ),
    (
        "trl==1.15.0 transformers==5.21.0 peft==0.21.0 accelerate==1.15.0"
        " bitsandbytes==0.50.1 datasets==5.1.0"
    ),
)
"""What was run together, oldest first, without torch: as in the files of `version_sets/`."""


def advice(change: Change) -> str:
    """Say in a sentence which versions still have what went with a change.

    Args:
        change: the row of the table.

    Returns:
        a command for each form that the name had; nothing if no set is old enough.
    """
    forms = change.forms if isinstance(change, Gone) else ()
    commands = [
        f"{form.what}: {command}" if form.what else command
        for form in forms or (Form(before=change.gone),)
        if (command := install(form.before, form.also))
    ]
    return f"Versions that have it: {'; '.join(commands)}" if commands else ""


def install(before: str, also: str = "") -> str:
    """Return the command that installs the newest set from before a release.

    Args:
        before: the library and the release, as `trl 0.12.0`.
        also: what else is to be installed, as for pip.
    """
    found = set_before(before)
    if not found:
        return ""
    wanted = [*found.split(), *also.split()]
    return "pip install " + " ".join(f'"{pin}"' if "<" in pin else pin for pin in wanted)


def set_before(release: str) -> str:
    """Return the newest set from before a release; an empty text if all are newer."""
    from packaging.version import Version

    library, _, number = release.partition(" ")
    limit = Version(number)
    older = [
        known
        for known in SETS
        for pin in known.split()
        if pin.startswith(f"{library}==") and Version(pin.partition("==")[2]) < limit
    ]
    return older[-1] if older else ""
