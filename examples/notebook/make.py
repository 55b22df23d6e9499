"""Writes boxsum.ipynb from the cells below: a notebook without outputs, which tests execute.

    python examples/notebook/make.py
"""

import json
from pathlib import Path

CELLS = Path(__file__).with_name("boxsum.md").read_text(encoding="utf-8")

cells = []
for i, part in enumerate(CELLS.split("```")):
    code = i % 2 == 1
    text = part.removeprefix("python\n").strip("\n") if code else part.strip("\n")
    if text:
        cell = {"cell_type": "code" if code else "markdown", "id": f"cell-{len(cells)}", "metadata": {}, "source": text.splitlines(keepends=True)}
        if code:
            cell |= {"execution_count": None, "outputs": []}
        cells.append(cell)
kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
notebook = {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
Path(__file__).with_name("boxsum.ipynb").write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
