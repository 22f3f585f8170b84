"""Write down which release has which name, module and keyword, in few words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .interface import LIBRARIES, Interface
from .modules import Modules
from .signatures import ANY

SCHEMA = 1
_ALWAYS = ".."
_LARGE = "transformers"
"""The library with thousands of names; those that all releases have are only listed."""
_UNSEEN = re.compile(r"convert_|(agents|benchmark|cli|commands|exporters|onnx|testing_utils)\b")
"""Modules of it that no script imports."""
_INTERNAL = re.compile(
    r"(commands\.scripts|distributed|experimental\.\w+|integrations|loss|models|pipelines|quantizers|"
    r"sagemaker|scripts|test_utils|tools|tuners)\.|(audio|cache|image|import|masking|"
    r"processing|test|video)_\w+|(chat_template_utils|conversion_mapping|core_model_loading|generation|"
    r"modeling_(?!outputs)\w+|models\.auto|pipelines)\b|utils\.(?!other|quantization|dataclasses|hub)"
)
"""Modules whose names no script imports one by one."""
UNASKED = re.compile(
    r"\w*ARCHIVE_(MAP|LIST)$|\w+PreTrainedModel$|"
    r"(?!Auto)\w*(Audio|Backbone|Decoder|Encoder|Image|Speech|Video|Vision)\w*(Config|Model|Pil|"
    r"Processor\w*|Encoder|Decoder)$"
)
"""Names of it that no script for training asks for."""
_SPELLED = re.compile(
    r"(?!(Bloom|ErnieM|GPTSanJapanese|Jukebox|MT5|MistralCommon|Realm|RetriBert|Speech2Text2|Tapex|"
    r"TransfoXL|Wav2Vec2|XLMProphetNet)T)\w+(Tokenizer(Fast)?|ImageProcessorFast)$"
)
"""All but those for which it finds none, as was tried on 5.23."""
_MIXIN = "transformers.PushToHubMixin"
"""A base class that takes no keywords."""
_BY_SPELLING = 5
"""From this major release on, Transformers finds another class for such a name."""

Groups = dict[str, str]
"""Releases, as `written` puts them, to the names in these releases, with blanks between."""


@dataclass(frozen=True)
class Released:
    """What one release has.

    Args:
        interface: its public interface.
        modules: its modules, and the names in them.
    """

    interface: Interface
    modules: Modules


def timeline(libraries: Mapping[str, Mapping[str, Released]]) -> dict[str, Any]:
    """Return what the releases of the libraries have, as JSON can hold it.

    Args:
        libraries: by library the releases, the oldest first.
    """
    content: dict[str, Any] = {"schema": SCHEMA}
    for library, releases in libraries.items():
        modules = [_seen(library, release.modules) for release in releases.values()]
        if library == _LARGE:
            tops = _top_of_transformers(modules, list(releases))
            modules = [
                {**in_release, "": top} for in_release, top in zip(modules, tops, strict=True)
            ]
        names = _names(modules, list(releases))
        grouped = _grouped([filter(None, in_release) for in_release in modules], list(releases))
        always = ""
        if library == _LARGE:
            always = " ".join(groups.pop(_ALWAYS, "") for groups in (names[""], grouped)).strip()
        content[library] = {
            "releases": " ".join(releases),
            "complete": library != _LARGE,
            "always": always,
            "modules": grouped,
            "names": names,
            "keywords": _of_each(
                [release.interface.keywords for release in releases.values()], list(releases)
            ),
            "taken_from": _of_each(
                [_foreign(release.interface.taken_from) for release in releases.values()],
                list(releases),
            ),
        }
    return content


def written(numbers: Iterable[int], releases: Sequence[str]) -> str:
    """Put releases into words: `0.7.0..0.11.4 1.0.0..`.

    Args:
        numbers: their places among all releases.
        releases: all releases. A beginning or an end of theirs is left out: the next release is
            expected to be as the last.
    """
    present = set(numbers)
    parts: list[str] = []
    for number in sorted(present):
        if number - 1 not in present:
            first = number
        if number + 1 not in present:
            begin = releases[first] if first else ""
            end = releases[number] if number + 1 < len(releases) else ""
            parts.append(f"{begin}..{end}")
    return " ".join(parts)


def _grouped(has: Sequence[Iterable[str]], releases: Sequence[str]) -> Groups:
    """Return the names that the releases have, those of the same releases together."""
    numbers: dict[str, list[int]] = {}
    for number, names in enumerate(has):
        for name in names:
            numbers.setdefault(name, []).append(number)
    groups: dict[str, list[str]] = {}
    for name in sorted(numbers):
        groups.setdefault(written(numbers[name], releases), []).append(name)
    return {there: " ".join(groups[there]) for there in sorted(groups)}


def _of_each(
    has: Sequence[Mapping[str, Iterable[str]]], releases: Sequence[str]
) -> dict[str, Groups]:
    """Return the same for each owner of names."""
    owners = sorted({owner for owned in has for owner in owned})
    return {owner: _grouped([owned.get(owner, ()) for owned in has], releases) for owner in owners}


def _names(has: Sequence[Modules], releases: Sequence[str]) -> dict[str, Groups]:
    """Return the names in modules; below the top only those that come and go by themselves."""
    found = _of_each(has, releases)
    for module, groups in found.items():
        if module:
            there = written(
                (number for number, modules in enumerate(has) if module in modules), releases
            )
            groups.pop(there, None)
    return {module: groups for module, groups in found.items() if groups}


def _seen(library: str, modules: Modules) -> Modules:
    """Return the modules of a library, with the names that scripts ask them for."""
    return {
        module: [] if _INTERNAL.match(module) else names
        for module, names in modules.items()
        if library != _LARGE or not _UNSEEN.match(module)
    }


def _top_of_transformers(has: Sequence[Modules], releases: Sequence[str]) -> Iterator[list[str]]:
    """Yield the names that each release of Transformers offers, without those nobody asks for."""
    before: set[str] = set()
    for release, modules in zip(releases, has, strict=True):
        names = {name for name in modules[""] if not UNASKED.match(name)}
        if int(release.partition(".")[0]) >= _BY_SPELLING:
            names.update(filter(_SPELLED.match, before))
        yield sorted(names)
        before = names


def _foreign(taken_from: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Return whose keywords are taken; those of classes of unknown libraries may be any."""
    return {
        owner: sorted({other if other.partition(".")[0] in LIBRARIES else ANY for other in others})
        for owner, others in taken_from.items()
        if others != [_MIXIN]
    }
