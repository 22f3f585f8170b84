"""Describe other tools that change the same libraries, and how patchkit works beside them."""

from __future__ import annotations

from dataclasses import dataclass

from ...environment import installed_version
from .section import Section, SectionRow

NAME, TITLE = "patchers", "Others that patch"


@dataclass(frozen=True)
class Patcher:
    """How patchkit works beside another tool, and the evidence for it."""

    beside: str
    basis: str


PATCHERS = {
    "unsloth": Patcher(
        'Import it first, then `patchkit.apply(exclude="trl-*")`: it makes trainers of its own '
        "from the text of TRL's, which must be upstream's, and leaves out their bfloat16 cast "
        "itself. From outside: `patchkit run --exclude 'trl-*' -- python train.py`.",
        "read in unsloth 2026.10.9, which needs a GPU to be imported; not run",
    ),
    "liger-kernel": Patcher(
        "It replaces the norms and `forward` of model families. Call `patchkit.apply()` after it, "
        "or again after a trainer was made with use_liger_kernel=True: of the families that it "
        "replaces later, `transformers-norm-output-dtype` and `transformers-lm-head-dtype` are "
        "`overridden`. All other patches hold in either order.",
        "run with liger-kernel 0.8.5 and Llama of Transformers 5.18.0, without its kernels",
    ),
    "axolotl": Patcher(
        "It pins one release of each library and rewrites methods of Transformers' Trainer. Its "
        "trainers inherit from those of TRL and Transformers, so that patches act in them: "
        "`patchkit run -- axolotl train config.yml`.",
        "trained with axolotl 0.19.0 on a CPU",
    ),
    "llamafactory": Patcher(
        "It takes TRL up to 0.24, which has no adapter cast, and its DPO and KTO trainers skip "
        "TRL's `__init__`. The patches of the other libraries act: "
        "`patchkit run -- llamafactory-cli train config.yaml`.",
        "trained with llamafactory 0.9.5 on a CPU",
    ),
    "ms-swift": Patcher(
        "It deletes the `__init__` of the trainers of TRL that it extends: the adapter cast of "
        "`trl-adapter-bf16-cast` does not run there. The patches of the other libraries act: "
        "`patchkit run -- swift sft ...`.",
        "trained with ms-swift 4.6.0 on a CPU",
    ),
    "deepspeed": Patcher(
        "Where it trains, `accelerate-gradscaler-guard` does nothing; where it shards the "
        "parameters, `trl-dora-magnitude` leaves TRL's cast in place.",
        "the patches say so; not run",
    ),
}
"""The tools by distribution; docs/beside.md says more."""


def check() -> Section:
    versions = {name: installed_version(name) for name in PATCHERS}
    installed = {name: version for name, version in versions.items() if version}
    rows = [
        SectionRow(name, f"{version}. {PATCHERS[name].beside} ({PATCHERS[name].basis})")
        for name, version in installed.items()
    ]
    if not rows:
        rows = [SectionRow("", "None that patchkit knows is installed.")]
    facts = [
        {"name": name, "version": version, **vars(PATCHERS[name])}
        for name, version in installed.items()
    ]
    return Section(NAME, TITLE, tuple(rows), facts)
