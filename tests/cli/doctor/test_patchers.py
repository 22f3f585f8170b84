"""Other tools that patch."""

from __future__ import annotations

from patchkit.cli.doctor import patchers


def test_none(installation) -> None:
    assert patchers.check().facts == []


def test_those_that_are_installed(installation) -> None:
    installation.add("liger_kernel", "0.8.5")
    installation.add("unsloth", "2026.10.9")
    section = patchers.check()
    assert [(fact["name"], fact["version"]) for fact in section.facts] == [
        ("unsloth", "2026.10.9"),
        ("liger-kernel", "0.8.5"),
    ]
    assert all(fact["beside"] and fact["basis"] for fact in section.facts)
    assert section.steps == ()
