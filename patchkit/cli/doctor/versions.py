"""List Python, the platform, and the installed libraries that a training may use."""

from __future__ import annotations

from collections.abc import Iterator

from ...about import DISTRIBUTION, __version__, namesake, namesake_problem
from ...environment import frameworks, installed_version, is_version, python_and_platform
from ...errors import UnreadableVersion
from ...matrix.records import LIBRARIES
from ...text import short_list
from .section import Section, SectionRow, Step

NAME, TITLE = "environment", "Environment"

ALSO = (
    "triton",
    "unsloth",
    "unsloth-zoo",
    "liger-kernel",
    "deepspeed",
    "flash-attn",
    "xformers",
    "torchao",
    "torchvision",
    "kernels",
)
"""Libraries that belong into an issue if they are installed; frameworks do anyway."""


def installed_libraries() -> dict[str, str]:
    """Return the versions of the installed libraries that a training may use, and frameworks."""
    names = dict.fromkeys((*LIBRARIES, *ALSO, *frameworks()))
    versions = {name: installed_version(name) for name in names}
    return {name: version for name, version in versions.items() if version}


def check() -> Section:
    versions = installed_libraries()
    running = python_and_platform()
    other = namesake()
    absent = [name for name in LIBRARIES if name not in versions]
    facts = {
        **running,
        "patchkit": __version__,
        "namesake": other,
        "installed": versions,
        "absent": absent,
    }
    found: list[SectionRow | Step] = [
        SectionRow("Python", f"{running['python']} on {running['platform']}"),
        SectionRow("patchkit", f"{__version__} ({DISTRIBUTION})"),
    ]
    if other:
        found.append(SectionRow("in its folder", f"{other}, of another distribution", True))
        found.append(Step(f"{namesake_problem(other)}.", wrong=True))
    for name, version in versions.items():
        found.append(SectionRow(name, version + _origin(name)))
        if not is_version(version):  # other sections are silent about it
            error = UnreadableVersion(name, version)
            advice = f"{error.advice[:1].upper()}{error.advice[1:]}"
            found.append(Step(f"{error}. {advice}; until then its bugs stay.", wrong=True))
    if absent:
        found.append(SectionRow("absent", short_list(absent, shown=len(absent))))
    return Section.of(NAME, TITLE, [*found, *_missing(versions)], facts)


def _missing(versions: dict[str, str]) -> Iterator[Step]:
    if not any(name in versions for name in LIBRARIES):
        yield Step(
            "No library that patchkit fixes is installed for this Python. If you train with "
            "another Python, check that one; else install the libraries.",
            ("/path/to/that/python -m patchkit doctor", "pip install trl peft bitsandbytes"),
        )
    elif "torch" not in versions:
        yield Step(
            f"torch is missing: {short_list(versions)} cannot train without it.",
            ("pip install torch",),
            wrong=True,
        )


def _origin(distribution: str) -> str:
    """Describe the source of a build that is no release; its address may hold secrets."""
    import json
    from importlib import metadata

    text = metadata.distribution(distribution).read_text("direct_url.json")
    if not text:
        return ""
    source = json.loads(text)
    if "vcs_info" in source:
        commit = str(source["vcs_info"].get("commit_id", ""))[:10]
        return f" (from {source['vcs_info'].get('vcs', 'a checkout')} {commit})".replace(" )", ")")
    return " (editable)" if source.get("dir_info", {}).get("editable") else " (from a local file)"
