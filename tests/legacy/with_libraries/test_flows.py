"""docs/architecture.md: the flows that need the libraries go as calls do."""

from __future__ import annotations

from pathlib import Path

from ... import flows


def test_a_patch_goes_through_these_files_to_a_line_of_the_report(tmp_path: Path) -> None:
    calls = flows.calls_of(
        """
        import patchkit
        patchkit.apply("trl-adapter-bf16-cast")
        from trl import SFTTrainer
        assert "trl-adapter-bf16-cast" in str(patchkit.report())
        """,
        tmp_path,
        libraries=True,
    )
    flows.check("A patch, from its id", calls)


def test_an_old_keyword_goes_through_these_files(tmp_path: Path) -> None:
    calls = flows.calls_of(
        """
        import patchkit
        patchkit.apply(legacy=True)
        from trl import SFTConfig
        config = SFTConfig(output_dir="unused", max_seq_length=512, use_cpu=True, bf16=False)
        assert config.max_length == 512
        """,
        tmp_path,
        libraries=True,
    )
    flows.check("`legacy=True`, to", calls)
