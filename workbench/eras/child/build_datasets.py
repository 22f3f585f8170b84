"""Build the datasets that stand in for those of the Hub, in the cache of `datasets`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3]))

from workbench.eras.hub import DATASETS, ROWS, Dataset
from workbench.eras.rows import rows

FINGERPRINT = "0" * 16


def main() -> None:
    folder = Path(sys.argv[1])
    from datasets.naming import camelcase_to_snakecase

    for name, dataset in DATASETS.items():
        owner, slash, last = name.rpartition("/")
        # Older releases look for the name as it is, newer ones for this.
        short = camelcase_to_snakecase(last)
        for spelling in {name, f"{owner}{slash}{short}"}:
            build(folder / spelling.replace("/", "___"), short, dataset)


def build(folder: Path, name: str, dataset: Dataset) -> None:
    """Build one dataset in its folder of the cache."""
    from datasets import Dataset as Table
    from datasets import DatasetInfo
    from datasets.arrow_writer import ArrowWriter
    from datasets.splits import SplitDict, SplitInfo

    place = folder / dataset.config / "0.0.0" / FINGERPRINT
    place.mkdir(parents=True, exist_ok=True)
    splits = SplitDict(dataset_name=name)
    for seed, split in enumerate(dataset.splits):
        table = Table.from_list(rows(dataset.kind, ROWS, seed))
        writer = ArrowWriter(path=str(place / f"{name}-{split}.arrow"), features=table.features)
        writer.write_table(table.data.table)
        writer.finalize()
        splits.add(SplitInfo(name=split, num_bytes=1, num_examples=ROWS, dataset_name=name))
    DatasetInfo(
        features=table.features,
        builder_name="parquet",
        dataset_name=name,
        config_name=dataset.config,
        version="0.0.0",
        splits=splits,
    ).write_to_directory(str(place))


if __name__ == "__main__":
    main()
