"""Execute the example notebook with this Python, in a folder of its own.

    python tests/examples/execute_notebook.py [OUTPUT]

OUTPUT is the notebook itself by default: that is how the committed outputs are made. What the
libraries say on standard error is left out of them, since it names folders of the machine.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

NOTEBOOK = Path(__file__).parents[2] / "examples" / "qlora_fp16.ipynb"


def main(output: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        # This environment's kernel, which starts this interpreter, and not one of the user's.
        os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
        os.environ["JUPYTER_DATA_DIR"] = os.environ["IPYTHONDIR"] = f"{folder}/jupyter"
        import nbclient
        import nbformat

        notebook = nbformat.read(NOTEBOOK, as_version=4)
        nbclient.NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=600,
            resources={"metadata": {"path": folder}},
            record_timing=False,
        ).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    notebook.metadata.language_info = {"name": "python"}
    nbformat.write(notebook, output)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else NOTEBOOK)
