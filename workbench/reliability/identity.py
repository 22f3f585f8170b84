"""Compare all that hangs in the real libraries before `apply()`, after it and after `revert()`.

Module attributes, entries of classes and of classes in them, and of each function its code,
defaults, closure, `__dict__` and what it wraps, all by `is`; `sys.meta_path`, `sys.path_hooks`,
`sys.path`, `linecache`, `warnings.filters`, signal handlers, and the loaders of modules. Where the
libraries are imported after `apply()`, what they hold is compared with an interpreter without
patchkit, by value.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import linecache
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from . import forks
from .figures import Figures, options
from .snapshots import Snapshot

LIBRARIES = ("torch", "transformers", "trl", "peft", "accelerate", "bitsandbytes")
LOADED = (
    "torch",
    "transformers",
    "transformers.trainer",
    "transformers.models.llama.modeling_llama",
    "transformers.models.mistral.modeling_mistral",
    "transformers.models.qwen2.modeling_qwen2",
    "transformers.models.t5.modeling_t5",
    "transformers.integrations.bitsandbytes",
    "peft",
    "peft.tuners.lora.bnb",
    "accelerate",
    "bitsandbytes",
    "trl",
    "trl.trainer.sft_trainer",
    "trl.trainer.dpo_trainer",
    "trl.trainer.grpo_trainer",
    "trl.trainer.reward_trainer",
    "trl.trainer.rloo_trainer",
    "trl.trainer.kto_trainer",
)


def import_libraries() -> None:
    for name in LOADED:
        importlib.import_module(name)


def modules() -> list[ModuleType]:
    """Return all modules of the libraries that are loaded."""
    return [
        module
        for name, module in sorted(sys.modules.items())
        if name.partition(".")[0] in LIBRARIES and isinstance(module, ModuleType)
    ]


def surroundings() -> dict[str, Any]:
    """Describe what of the interpreter itself somebody might have changed."""
    handlers = {}
    for number in signal.valid_signals():
        handlers[int(number)] = repr(signal.getsignal(number))
    return {
        "sys.meta_path": [repr(type(finder)) + str(id(finder)) for finder in sys.meta_path],
        "sys.path_hooks": [id(hook) for hook in sys.path_hooks],
        "sys.path": list(sys.path),
        "warnings.filters": [repr(entry) for entry in warnings.filters],
        "signal handlers": handlers,
        "sys.excepthook": id(sys.excepthook),
        "builtins.__import__": id(__import__),
        "linecache": sorted(name for name in linecache.cache if name.startswith("<patchkit")),
        "modules": sorted(name for name in sys.modules if name.partition(".")[0] in LIBRARIES),
    }


def _upstream(finders: list[str]) -> list[str]:
    """Leave out patchkit's own finder, which waits for what is not imported yet."""
    return [finder for finder in finders if "patchkit." not in finder]


def loaders() -> dict[str, str]:
    """Return the kind of loader of each module, as the module and as its spec name it."""
    kinds_by_module = {}
    for module in modules():
        spec = getattr(module, "__spec__", None)
        kinds = [
            f"{type(loader).__module__}.{type(loader).__qualname__}"
            for loader in (getattr(module, "__loader__", None), getattr(spec, "loader", None))
        ]
        same = getattr(module, "__loader__", None) is getattr(spec, "loader", None)
        kinds_by_module[module.__name__] = f"{kinds}, {'one' if same else 'two'}"
    return kinds_by_module


def describe() -> dict[str, str]:
    """Describe all that hangs in the modules, by value, to compare interpreters with each other."""
    snapshot = Snapshot.of(modules())
    texts = {}
    for path, value in snapshot.entries.items():
        if path.endswith(".__code__") and isinstance(value, CodeType):
            texts[path] = _digest(value)
        elif path.endswith((".__defaults__", ".__kwdefaults__", ".__closure__")):
            texts[path] = "none" if value is None else f"{type(value).__name__} {len(value)}"
        elif isinstance(value, (FunctionType, type)):
            texts[path] = f"{type(value).__name__} {value.__module__}.{value.__qualname__}"
        else:
            texts[path] = f"{type(value).__module__}.{type(value).__qualname__}"
    return texts


def _digest(code: CodeType) -> str:
    """Return a digest of what a code object does, the same in every interpreter."""
    digest = hashlib.sha256()

    def add(code: CodeType) -> None:
        fixed = (
            code.co_code,
            code.co_names,
            code.co_varnames,
            code.co_freevars,
            code.co_cellvars,
            code.co_flags,
            code.co_firstlineno,
            code.co_name,
            code.co_filename,
        )
        digest.update(repr(fixed).encode())
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                add(constant)
            elif isinstance(constant, frozenset):
                digest.update(repr(sorted(map(repr, constant))).encode())
            else:
                digest.update(repr(constant).encode())

    add(code)
    return digest.hexdigest()


def declared(report: Any) -> set[str]:
    """Return the targets that a report says are applied."""
    return {
        target.target
        for record in report
        for target in record.targets
        if str(target.status) == "applied"
    }


def undeclared(changed: Iterable[str], targets: set[str], snapshot: Snapshot) -> list[str]:
    """Return changed paths that no applied target accounts for."""
    paths = []
    for path in changed:
        place = path.partition("()")[0]
        names = {place, *snapshot.aliases.get(place, ())}
        names |= {_without_descriptor(name) for name in names}
        if not names & targets:
            paths.append(path)
    return paths


def _without_descriptor(place: str) -> str:
    for part in (".__wrapped__", ".fget", ".func"):
        place = place.replace(part, "")
    return place


def imported_first() -> dict[str, Any]:
    """Import the libraries, apply and revert; return what is different at each point."""
    import_libraries()
    import patchkit

    around = surroundings()
    before = Snapshot.of(modules())
    wrong = []
    report = patchkit.apply()
    is_warm = "patchkit.engine.session" not in sys.modules
    between = Snapshot.of(modules())
    changed = before.differences(between)
    targets = declared(report)
    wrong += [
        f"changed by apply(), not declared: {path}" for path in undeclared(changed, targets, before)
    ]
    accounted = {path.partition("()")[0] for path in changed}
    accounted |= {alias for place in accounted for alias in before.aliases.get(place, ())}
    accounted |= {_without_descriptor(place) for place in accounted}
    wrong += [f"declared, not changed: {target}" for target in sorted(targets - accounted)]
    wrong += [
        f"apply() changes {name}"
        for name, value in surroundings().items()
        if value != around[name] and name not in ("linecache", "sys.meta_path")
    ]
    if _upstream(surroundings()["sys.meta_path"]) != _upstream(around["sys.meta_path"]):
        wrong.append("apply() changes finders that are not its own")
    patchkit.revert()
    left = before.differences(Snapshot.of(modules()))
    wrong += [f"not as before after revert(): {path}" for path in left]
    wrong += [
        f"revert() leaves {name} changed"
        for name, value in surroundings().items()
        if value != around[name]
    ]
    return {
        "entries": len(before),
        "modules": len(modules()),
        "changed": len(changed),
        "targets": len(targets),
        "warm": is_warm,
        "wrong": wrong,
    }


def imported_after(with_patchkit: bool) -> dict[str, Any]:
    """Apply, import the libraries and revert; return what there is then, by value."""
    around = surroundings()
    changed: dict[str, Any] = {}
    if with_patchkit:
        import patchkit

        patchkit.apply()
    import_libraries()
    hooked = loaders()
    if with_patchkit:
        patchkit.revert()
        now = surroundings()
        # Transformers has a finder of its own.
        now["sys.meta_path"] = [
            finder
            for finder in now["sys.meta_path"]
            if finder in around["sys.meta_path"] or finder not in _upstream([finder])
        ]
        changed = {
            name: (around[name], now[name])
            for name in around
            if around[name] != now[name]
            and name in ("sys.meta_path", "sys.path_hooks", "linecache", "sys.path")
        }
    return {
        "entries": describe(),
        "hooked": hooked,
        "loaders": loaders(),
        "surroundings": changed,
        "filters": len(warnings.filters),
    }


PROGRAMS = {
    "imported-first": imported_first,
    "imported-after": lambda: imported_after(True),
    "without-patchkit": lambda: imported_after(False),
}


def in_interpreter(program: str) -> dict[str, Any]:
    """Return what one of the programs finds in an interpreter of its own."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = forks.command(__name__, "--program", program, flags=("-W", "ignore"))
        done = subprocess.run(
            [*command, "--output", file.name], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(done.stderr[-3000:])
        outcome: dict[str, Any] = json.loads(Path(file.name).read_text())
        return outcome


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--program", choices=PROGRAMS, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.program:
        chosen.output.write_text(json.dumps(PROGRAMS[chosen.program]()))
        return 0
    figures = Figures("identity", chosen.shown)
    first = in_interpreter("imported-first")
    figures.count("libraries first", times=3 * first["entries"])
    figures.count("a warm cache", times=first["warm"])
    figures.wrong["libraries first"] = len(first["wrong"])
    figures.findings.update(first["wrong"])
    figures.note(
        f"{first['entries']} entries of {first['modules']} modules; apply() changes "
        f"{first['changed']}, for {first['targets']} targets"
    )
    bare, hooked = in_interpreter("without-patchkit"), in_interpreter("imported-after")
    compared = (
        ("libraries after apply(), by value after revert()", "entries"),
        ("loaders while applied", "hooked"),
        ("loaders after revert()", "loaders"),
    )
    for row, part in compared:
        names = {**bare[part], **hooked[part]}
        different = [name for name in names if bare[part].get(name) != hooked[part].get(name)]
        figures.count(row, times=len(names))
        figures.wrong[row] = len(different)
        for name in different:
            kind = f"{hooked[part].get(name)} instead of {bare[part].get(name)}"
            figures.findings[f"{row}: {kind if part != 'entries' else name}"] += 1
    figures.count("the interpreter after revert()", times=4)
    figures.wrong["the interpreter after revert()"] = len(hooked["surroundings"])
    for name in hooked["surroundings"]:
        figures.findings[f"the interpreter after revert(): {name} is another"] += 1
    return figures.show(as_json=chosen.json)
