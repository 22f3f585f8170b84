"""Build the datasets that stand in for those of the Hub, in the cache of `datasets`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from legacy_parts.hub import DATASETS, ROWS, Dataset
from legacy_parts.rows import rows

FINGERPRINT = "0" * 16


def main() -> None:
    folder = Path(sys.argv[1])
    for name, dataset in DATASETS.items():
        build(folder, name, dataset)


def build(folder: Path, name: str, dataset: Dataset) -> None:
    from datasets import Dataset as Table
    from datasets import DatasetInfo
    from datasets.arrow_writer import ArrowWriter
    from datasets.splits import SplitDict, SplitInfo

    short = name.rpartition("/")[2]
    place = folder / name.replace("/", "___") / dataset.config / "0.0.0" / FINGERPRINT
    place.mkdir(parents=True, exist_ok=True)
    splits = SplitDict(dataset_name=short)
    for seed, split in enumerate(dataset.splits):
        table = Table.from_list(rows(dataset.kind, ROWS, seed))
        writer = ArrowWriter(path=str(place / f"{short}-{split}.arrow"), features=table.features)
        writer.write_table(table.data.table)
        writer.finalize()
        splits.add(SplitInfo(name=split, num_bytes=1, num_examples=ROWS, dataset_name=short))
    DatasetInfo(
        features=table.features,
        builder_name="parquet",
        dataset_name=short,
        config_name=dataset.config,
        version="0.0.0",
        splits=splits,
    ).write_to_directory(str(place))


if __name__ == "__main__":
    main()
