"""Every block of Python in the documents runs, in order, as it is printed."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

import boxsum

TOP = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
# A line that prints, and what it prints.
PRINTS = re.compile(r"^print\(.*\)  # (.+)$", re.M)
# Blocks with prompts are doctests, which pytest runs by itself.
PAGES = [page for page in [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))] if any(">>>" not in block for block in BLOCK.findall(page.read_text(encoding="utf-8")))]


def blocks(page):
    return [block for block in BLOCK.findall(page.read_text(encoding="utf-8")) if ">>>" not in block]


@pytest.mark.skipif(not (TOP / "docs").is_dir(), reason="needs the documents: run it in a clone of the repository")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_blocks(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    image = random.integers(0, 256, (480, 640), dtype=np.uint8)
    depth = random.random((480, 640), dtype=np.float32)
    depth[::7, ::5] = np.nan
    np.save("table.npy", boxsum.volume(image[None, :60, :60].repeat(9, 0)) if page.name == "volumes.md" else boxsum.histogram(image, 32).table)
    Path("photo.zarr", "c", "0").mkdir(parents=True)
    Path("photo.zarr", "zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": image.shape, "data_type": "uint8", "fill_value": 0, "codecs": [{"name": "bytes"}],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": image.shape}}, "chunk_key_encoding": {"name": "default"}, "attributes": {},
    }))  # fmt: skip
    Path("photo.zarr", "c", "0", "0").write_bytes(image.tobytes())
    cascade = Path(os.environ.get("BOXSUM_CASCADES", "/usr/share/opencv4"), "haarcascades", "haarcascade_frontalface_alt2.xml")
    names = {
        "np": np, "boxsum": boxsum, "image": image, "depth": depth, "frames": [image, image[::-1].copy()], "template": image[100:120, 200:230],
        "boxes": np.array([[0, 0, 64, 64], [10, 20, 110, 220]]), "cascade": str(cascade), "x0": 3, "y0": 4, "x1": 50, "y1": 60, "z0": 1, "z1": 5,
    }  # fmt: skip
    for block in blocks(page):
        if "cascade" in block and not cascade.exists():
            assert os.environ.get("CI") != "true", f"{cascade} is not there"
            continue
        exec(compile(block, str(page), "exec"), names)
        printed = capsys.readouterr().out
        for want in PRINTS.findall(block):
            assert want in printed


@pytest.mark.skipif(not (TOP / "docs").is_dir(), reason="needs the documents: run it in a clone of the repository")
def test_table_of_types():
    rows = re.findall(r"^\| ([a-z0-9, ]+) \| ([a-z0-9, ]+) \| [a-z0-9, ]+ \|$", (TOP / "docs/reference/arrays.md").read_text(encoding="utf-8"), re.M)
    documented = {pixel: sums.split(", ") for pixels, sums in rows for pixel in pixels.split(", ")}
    names = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64")
    documented.pop("pixels")  # the head of the table
    assert set(documented) == {"bool", *names} - {"uint64", "int64"}
    for pixel, sums in documented.items():
        image = np.ones((2, 3), pixel)
        assert boxsum.integral(image).dtype == sums[0]
        for name in names:
            if name in sums:
                table = boxsum.integral(image, dtype=name)
                assert table.dtype == name and table[-1, -1] == 6
            else:
                with pytest.raises(TypeError, match="sums"):
                    boxsum.integral(image, dtype=name)
