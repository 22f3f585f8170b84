"""Run a notebook's cells one after the other, as Jupyter does, and stop at the first error."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell


def main() -> int:
    shell = InteractiveShell.instance(colors="NoColor", xmode="Plain")
    notebook = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            if not shell.run_cell(source, store_history=True).success:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
