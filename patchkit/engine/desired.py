"""What is wanted of this process, as a value: which patches, and with which choices."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..catalogue.entries import Catalogue
from .armed import ArmedPatch

if TYPE_CHECKING:
    from ..legacy.layer import LayerChoice


_EMPTY: Mapping[str, Any] = MappingProxyType({})


class DesiredState(NamedTuple):
    """The patches that are wanted, and with which choices.

    Args:
        catalogue: all known patches; None until they are first needed.
        local: folders and files of a project's own patches.
        armed: the patches that are wanted, by id.
        strict: the ids of patches whose trouble raises PatchError during an import.
        disabled: why the last `apply` left patches out, by id.
        choices: what was chosen beyond which patches run.
        suspended: patches that come back when a block of `patched` ends.
        legacy: what the legacy layer is to do; None if it is off.
        off: what calls have switched off, whatever variables say: keywords of opt-in patches, and
            `legacy`.
    """

    catalogue: Catalogue | None = None
    local: tuple[Path, ...] = ()
    armed: Mapping[str, ArmedPatch] = _EMPTY
    strict: frozenset[str] = frozenset()
    disabled: Mapping[str, str] = _EMPTY
    choices: Mapping[str, str] = _EMPTY
    suspended: tuple[ArmedPatch, ...] = ()
    legacy: LayerChoice | None = None
    off: frozenset[str] = frozenset()

    @property
    def says_nothing_of_legacy(self) -> bool:
        """Whether no call has switched the legacy layer, so that its variable counts."""
        return self.legacy is None and "legacy" not in self.off

    def switched_off_by(self, switches: Mapping[str, bool]) -> list[ArmedPatch]:
        """Return the patches that `Choices.switches` of a call switches off."""
        off = {name for name, on in switches.items() if not on}
        return [patch for patch in self.armed.values() if patch.entry.patch.opt_in in off]

    def after(
        self,
        armed: Mapping[str, ArmedPatch],
        switches: Mapping[str, bool],
        chosen: Mapping[str, str],
        *,
        catalogue: Catalogue,
        local: Collection[Path],
        disabled: Mapping[str, str],
        strict: bool,
        legacy: LayerChoice | None,
    ) -> DesiredState:
        """Return what is wanted after a call of `apply`: what was, and what the call adds."""
        gone = {patch.id for patch in self.switched_off_by(switches)}
        kept = {name: patch for name, patch in self.armed.items() if name not in gone}
        unsaid = "legacy" not in switches and not self.says_nothing_of_legacy
        return self._replace(
            catalogue=catalogue,
            local=(*self.local, *(path for path in local if path not in self.local)),
            armed={**kept, **armed},
            strict=self.strict.intersection(kept).difference(armed).union(armed if strict else ()),
            disabled=disabled,
            choices={**self.choices, **chosen},
            legacy=self.legacy if unsaid else legacy,
            off=self.off.difference(switches).union(
                name for name, on in switches.items() if not on
            ),
        )
