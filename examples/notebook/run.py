"""Executes boxsum.ipynb, and fails where a cell does. It takes nbclient and ipykernel.

    python examples/notebook/run.py
"""

import json
from pathlib import Path

import nbformat
from nbclient import NotebookClient

here = Path(__file__).parent
notebook = nbformat.read(here / "boxsum.ipynb", as_version=4)
nbformat.validate(notebook)
sources = ["".join(cell["source"]) for cell in json.loads((here / "boxsum.ipynb").read_text(encoding="utf-8"))["cells"]]
written = [part.removeprefix("python\n").strip("\n") for part in (here / "boxsum.md").read_text(encoding="utf-8").split("```")]
assert sources == [part for part in written if part], "stale: run examples/notebook/make.py"
NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
print(f"{sum(cell.cell_type == 'code' for cell in notebook.cells)} cells ran")
