"""The public interface of one release."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from . import signatures
from .exports import exported
from .signatures import Keywords
from .sources import FoundDefinition, Sources

LIBRARIES = {"trl": "0.7", "transformers": "4.36", "peft": "0.6", "accelerate": "0.25"}
"""The libraries, and the first release of each that is looked at."""

_WHOLE = ("trl", "peft", "accelerate")
"""Libraries of which every exported class and function is read."""
_PARTS = (
    "data.data_collator",
    "hf_argparser",
    "optimization",
    "trainer",
    "trainer_callback",
    "trainer_seq2seq",
    "training_args",
    "training_args_seq2seq",
    "utils.quantization_config",
)
"""Modules of the other libraries whose classes and functions are read."""
_EXPERIMENTAL = {
    "trl": tuple(
        f"{name}{kind}"
        for name in ("CPO", "GKD", "KTO", "ORPO", "OnlineDPO")
        for kind in ("Trainer", "Config")
    )
}
"""Classes that are read where they are not exported, too."""
_METHODS = {"transformers": ("PreTrainedModel.from_pretrained",)}
"""Methods that are read."""
_DEPRECATION = re.compile(r"deprecat|FutureWarning|will be removed", re.IGNORECASE)
_NEAR = 8
"""Lines before and after a deprecation in which a name counts as announced."""
_WORD = re.compile(r"[A-Za-z_]\w+")


@dataclass(frozen=True)
class Interface:
    """What a release offers.

    Args:
        names: exported at the top level, and the modules that have them.
        keywords: of each class, function or method, by its name without the library.
        taken_from: of these, classes of other libraries whose keywords they take, too, or `ANY`.
        ancestors: of each class, its own name first; with the library, as far as known.
        announced: names of these that stand near a deprecation.
    """

    names: dict[str, str]
    keywords: dict[str, Keywords]
    taken_from: dict[str, list[str]] = field(default_factory=dict)
    ancestors: dict[str, list[str]] = field(default_factory=dict)
    announced: list[str] = field(default_factory=list)


def read(sources: Sources, library: str) -> Interface:
    """Read the interface of a release.

    Args:
        sources: its modules.
        library: its name, which is that of its package.
    """
    names = _public(sources, library)
    keywords: dict[str, Keywords] = {}
    ancestors: dict[str, list[str]] = {}
    taken_from: dict[str, list[str]] = {}
    always = {name for name, module in names.items() if library in _WHOLE or module in _PARTS}
    for name in sorted({*always, *_EXPERIMENTAL.get(library, ()), *_METHODS.get(library, ())}):
        owner, _, method = name.partition(".")
        found = _find(sources, library, owner, names)
        if found is None:
            continue
        read = (
            signatures.method_keywords(sources, found, method)
            if method
            else signatures.keywords(sources, found)
        )
        if read is not None:
            keywords[name] = read
            if others := [signatures.ANY] if method else signatures.taken_from(sources, found):
                taken_from[name] = others
            ancestors[owner] = list(_ancestors(sources, library, found))
    known = {*names, *(keyword for read in keywords.values() for keyword in read)}
    announced = sorted(_announced(sources, library) & known)
    return Interface(names, keywords, taken_from, ancestors, announced)


def is_there(sources: Sources, place: str) -> bool:
    """Tell whether a dotted name is a module, or something in one."""
    if place in sources:
        return True
    module, _, name = place.rpartition(".")
    if "." not in module:
        return name in exported(sources, module) or _is_of_a_model(sources, module, name)
    if module not in sources:
        return False
    return name in sources.bound(module) or sources.find(module, name) is not None


def _public(sources: Sources, library: str) -> dict[str, str]:
    """Return the exported names; of the thousands of models only the classes that choose one."""
    names = {
        name: module
        for name, module in exported(sources, library).items()
        if not module.startswith("models.") or f"{module}.".startswith("models.auto.")
    }
    for module in sources:
        if module.startswith("transformers.models.auto."):
            short = module.removeprefix("transformers.")
            names.update(dict.fromkeys(_listed(sources, module), short))
    return names


def _is_of_a_model(sources: Sources, library: str, name: str) -> bool:
    """Tell whether a model's module lists a name, which the top level then has, too."""
    models = f"{library}.models."
    return any(
        name in _listed(sources, module)
        for module in sources
        if module.startswith(models) and name in sources.text(module)
    )


def _listed(sources: Sources, module: str) -> Iterator[str]:
    """Yield the names in the `__all__` of a module."""
    for statement in sources.bound(module).get("__all__", ()):
        for node in ast.walk(statement):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def _find(
    sources: Sources, library: str, name: str, names: dict[str, str]
) -> FoundDefinition | None:
    """Return a class or function that is exported, or that is part of an experimental package."""
    if name in names:
        # Not by way of the top level: its star imports lead through all models.
        found = sources.find(f"{library}.{names[name]}".rstrip("."), name)
        if found is not None:
            return found
    experimental = f"{library}.experimental."
    packages = (
        module for module in sources if module.startswith(experimental) and module.count(".") == 2
    )
    found_there = (sources.find(package, name) for package in packages)
    return next((found for found in found_there if found is not None), None)


def _ancestors(sources: Sources, library: str, found: FoundDefinition) -> Iterator[str]:
    """Yield the public names of a class and those that it derives from."""
    if not isinstance(found.node, ast.ClassDef):
        return
    yield f"{library}.{found.node.name}"
    for base in found.node.bases:
        name = ast.unparse(base)
        inherited = sources.find(found.module, name)
        if inherited is not None:
            yield from _ancestors(sources, library, inherited)
        else:
            yield f"transformers.{name}"


def _announced(sources: Sources, library: str) -> set[str]:
    words: set[str] = set()
    modules = sources if library in _WHOLE else sources.read
    for module in modules:
        lines = sources.text(module).splitlines()
        for number, line in enumerate(lines):
            if _DEPRECATION.search(line):
                near = lines[max(0, number - _NEAR) : number + _NEAR + 1]
                words.update(_WORD.findall("\n".join(near)))
    return words
