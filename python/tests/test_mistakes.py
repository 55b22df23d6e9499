"""Mistakes that are easy to make, and what they are answered with."""

import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest
from oracle import PIXELS, pixels

import boxsum

IMAGE_BOX, VOLUME_BOX = [0, 0, 1, 1], [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("dtype", PIXELS)
def test_four_numbers_in_a_volume(dtype):
    tables = [*boxsum.volume(pixels((5, 6, 7), dtype), squares=True), boxsum.volume(pixels((3, 4, 40), dtype))]
    tables += [tables[0][1:, :, 2:], boxsum.volume(pixels((3, 4, 5, 2), dtype))]
    for table in tables:
        boxsum.box_sum(table, VOLUME_BOX)
        with pytest.raises(ValueError, match="x0, y0, z0, x1, y1, z1"):
            boxsum.box_sum(table, IMAGE_BOX)


def test_a_volume_from_elsewhere():
    """Not made in this process, but its sums grow along x."""
    for dtype in ("u1", "u2", "u4"):
        table = np.array(boxsum.volume(pixels((5, 6, 20), dtype)))
        for other in (table, table.astype("f8"), np.asfortranarray(table), table.astype(">u8")):
            with pytest.raises(ValueError, match=r"query table\[\.\.\., 1:\]"):
                boxsum.box_mean(other, IMAGE_BOX)
    # What cannot be told is taken as channels.
    for voxels in (pixels((5, 6, 20), "i2"), pixels((5, 6, 9), "u1"), np.zeros((5, 6, 20), "u1")):
        assert boxsum.box_sum(np.array(boxsum.volume(voxels)), IMAGE_BOX).shape == (voxels.shape[2] + 1,)


def channels(kind):
    """Images with channels that are easily taken for a volume."""
    image = np.zeros((9, 8, 24), np.uint8)
    rng = np.random.default_rng(0)
    if kind == "one class of many":
        image[..., 23] = 1
    elif kind == "classes":
        np.put_along_axis(image, rng.integers(1, 24, (9, 8, 1)), 1, 2)
    elif kind == "black first":
        image[..., 1:] = rng.integers(0, 256, (9, 8, 23))
    elif kind == "brighter and brighter":
        image[..., 1:] = np.arange(1, 24)
        image[0, 0] = 0
        image[0, 0, 3] = 9
    elif kind == "few":
        image = np.zeros((9, 8, 5), np.uint8)
        image[...] = np.arange(5)
    return image


@pytest.mark.parametrize("kind", ["black", "one class of many", "classes", "black first", "brighter and brighter", "few"])
def test_channels_are_no_volume(kind):
    image = channels(kind)
    table = boxsum.integral(image)
    box = [1, 2, 7, 9]
    solid = tuple(n - 1 for n in table.shape)
    anew = boxsum.integral(image, out=boxsum.volume(np.zeros(solid, "u1")))
    slowly = boxsum.integral(image, out=boxsum.volume(np.zeros(solid, "u1")), device="cpu")
    for t in (table, np.array(table), anew, slowly):
        np.testing.assert_array_equal(boxsum.box_sum(t, box), image[2:9, 1:7].sum((0, 1)))
    np.testing.assert_array_equal(boxsum.box_sum(table[..., ::2], box), image[2:9, 1:7, ::2].sum((0, 1)))
    histogram = boxsum.histogram(np.full((9, 8), 255, np.uint8), 32)
    assert boxsum.box_sum(histogram.table, box).tolist() == histogram.counts(box).tolist()


def test_channels_that_only_grow_are_asked_without_the_black_one():
    image = np.zeros((9, 8, 20), np.uint8)
    image[...] = np.arange(20)  # the table has the numbers of a volume's
    table = boxsum.integral(image)
    with pytest.raises(ValueError, match=r"table\[\.\.\., 1:\]"):
        boxsum.box_sum(table, IMAGE_BOX)
    assert boxsum.box_sum(table[..., 1:], IMAGE_BOX).tolist() == list(range(1, 20))


def test_parts_of_a_volume():
    """Which are tables of images where one axis is left out."""
    table = boxsum.volume(np.ones((5, 6, 7), "u1"))
    assert boxsum.box_sum(table[-1], [0, 0, 2, 2]) == boxsum.box_sum(table[:, -1], [0, 0, 2, 2]) / 6 * 5 == 20
    assert boxsum.box_sum(table[:, :, 3:4], [0, 0, 2, 2]).tolist() == [12]
    assert boxsum.box_sum(boxsum.volume(np.ones((5, 6, 7, 2), "u1"))[-1], [0, 0, 2, 2]).tolist() == [20, 20]


@pytest.mark.parametrize("dtype", PIXELS)
def test_six_numbers_in_an_image(dtype):
    for shape in [(5, 6), (5, 6, 3), (5, 6, 30)]:
        for table in boxsum.integral(pixels(shape, dtype), squares=True):
            boxsum.box_sum(table, IMAGE_BOX)
            with pytest.raises(ValueError, match=r"want four \(x0, y0, x1, y1\)"):
                boxsum.box_sum(table, VOLUME_BOX)
    # A part of the table of a volume is one as well.
    voxels = pixels((6, 7, 8), dtype)
    table = boxsum.volume(voxels)
    for part in (table[2:, 1:, 3:], table[:, :, 3:], table[1:], np.array(table[2:, 1:, 3:])):
        z, y, x = (n - m for n, m in zip(table.shape, part.shape))
        assert boxsum.box_sum(part, [0, 0, 0, 2, 3, 2]) == voxels[z : z + 2, y : y + 3, x : x + 2].sum(dtype=table.dtype)


def test_both_tables_instead_of_one():
    image = pixels((5, 6), "u1")
    pair = boxsum.integral(image, squares=True)
    for ask in (boxsum.box_sum, boxsum.box_mean):
        for several in (pair, boxsum.integral(image, squares=True, tilted=True), boxsum.volume(image[None], squares=True)):
            with pytest.raises(ValueError, match="one array, got a tuple of [23] .*unpack it"):
                ask(several, IMAGE_BOX)
    with pytest.raises(ValueError, match="tuple of 2 "):
        boxsum.box_std(pair, pair[1], IMAGE_BOX)
    with pytest.raises(ValueError, match="tuple of 2 "):
        boxsum.haar(pair)
    assert boxsum.box_sum(pair[0].tolist(), IMAGE_BOX) == image[0, 0]  # lists are tables


def test_no_image():
    for make in (boxsum.integral, boxsum.volume, boxsum.histogram, boxsum.moments, lambda a: boxsum.rotated(a, 1)):
        with pytest.raises(TypeError, match="did imread find the file?"):
            make(None)


def test_masks_are_not_ignored():
    values = np.arange(12, dtype=np.uint8).reshape(3, 4)
    masked = np.ma.masked_array(values, values > 5)
    table = boxsum.integral(values)
    for ask in (
        lambda: boxsum.integral(masked, out=np.zeros((4, 5), "u4")),
        lambda: boxsum.volume(masked[None]),
        lambda: boxsum.rotated(masked, 1),
        lambda: boxsum.histogram(masked),
        lambda: boxsum.histogram(values, weights=masked),
        lambda: boxsum.moments(masked),
        lambda: boxsum.box_sum(np.ma.masked_array(table, table > 5), [0, 0, 1, 1]),
        lambda: boxsum.box_sum(table, np.ma.masked_array([0, 0, 1, 1], [0, 0, 0, 1])),
    ):
        with pytest.raises(ValueError, match=r"\.filled\(0\).*\.data"):
            ask()
    np.testing.assert_array_equal(boxsum.integral(masked.data), table)
    assert boxsum.integral(masked.filled(0))[-1, -1] == 15
    for sums in (boxsum.integral(masked), boxsum.integral(masked.astype("i8")), boxsum.integral(masked, squares=True)[0]):
        np.testing.assert_array_equal(sums, boxsum.integral(masked.filled(0)))
        assert boxsum.box_mean(sums, [0, 0, 4, 3]) == masked.mean()  # see test_known.py
    np.testing.assert_array_equal(boxsum.integral(np.ma.masked_array(values)), table)  # nothing is masked
    np.testing.assert_array_equal(boxsum.integral(np.ma.masked_array(values, False)), table)


def test_planes_taken_for_channels():
    """A warning says how to say what is meant, in the caller's line."""
    planes = pixels((3, 19, 21), "u1")
    for call in (
        lambda a: boxsum.integral(a),
        lambda a: boxsum.integral(a, squares=True),
        lambda a: boxsum.integral(a, out=np.zeros((4, 20, 21), np.uint32)),
        lambda a: boxsum.integral(a, mask=np.ones((3, 19))),
        lambda a: boxsum.blur(a, 1),
        lambda a: boxsum.blur(a.astype("i4"), 1),
        lambda a: boxsum.local_mean(a, 3),
        lambda a: boxsum.histogram(a),
        lambda a: boxsum.moments(a),
        lambda a: boxsum.rotated(a, 1),
    ):
        with pytest.warns(UserWarning, match=r"\(3, 19, 21\) is read as 3 rows of 19 pixels with 21 channels. .*numpy.moveaxis\(image, 0, -1\)") as told:
            call(planes)
        assert len(told) == 1 and told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for axes in ((-2, -1), (0, 1)):
            for call in (boxsum.integral, lambda a, axes: boxsum.blur(a, 1, axes=axes), lambda a, axes: boxsum.histogram(a, axes=axes)):
                call(planes, axes=axes)
        boxsum.volume(planes)
        for shape in ((19, 21, 3), (5, 19, 21), (3, 19, 16), (3, 16, 19), (0, 19, 21), (3, 3, 3), (19, 21)):
            boxsum.integral(np.zeros(shape, np.uint8))
    with pytest.warns(UserWarning, match="channels"):
        np.testing.assert_array_equal(boxsum.integral(planes, axes=(0, 1)), boxsum.integral(planes.copy()))
    np.testing.assert_array_equal(boxsum.integral(np.moveaxis(planes, 0, -1)), np.moveaxis(boxsum.integral(planes, axes=(-2, -1)), 0, -1))


def test_the_package_is_typed(tmp_path):
    """By mypy --strict, with the settings of pyproject.toml."""
    pytest.importorskip("mypy")
    project = Path(__file__).resolve().parents[1]
    if not (project / "src").is_dir():
        pytest.skip("needs the sources: run it in a clone of the repository")
    checked = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", tmp_path], cwd=project, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_type_checker_finds_strings(tmp_path):
    pytest.importorskip("mypy")
    source = textwrap.dedent("""
        import boxsum
        import numpy as np
        import numpy.typing as npt

        image: npt.NDArray[np.uint8] = np.ones((3, 4), np.uint8)
        table, squares = boxsum.integral(image, squares=True)
        boxes: npt.NDArray[np.int64] = np.zeros((5, 4), np.int64)
        boxsum.box_sum(table, boxes)
        boxsum.box_sum(table, [0, 0, 1, 1])
        boxsum.box_sum(table, (0.0, 0.0, 1.0, 1.0), workers=2)
        boxsum.box_sum(table, [[0, 0, 1, 1], [0, 0, 2, 2]], out=np.zeros(2, np.uint32))
        boxsum.box_mean(table, [boxes[0], boxes[1]])
        boxsum.box_sum([[0, 0], [0, 1]], [[[0, 0, 1, 1]]])
        boxsum.box_std(table, squares, boxes.astype(float))
        boxsum.tilted_sum(table, boxes)
        soft: npt.NDArray[np.uint8] = boxsum.blur(image, (3, 1), border="clip")
        means, deviations = boxsum.local_mean_std(soft, 5)
        boxsum.binarize([[1, 2], [3, 4]], window=3, k=0.2)
        boxsum.binarize(image, window=[3, 5])
        boxsum.median(image, np.int64(3))
        boxsum.box_filter(image, np.array([3, 5]), shift=(np.int64(1), 0))
        boxsum.haar(table, size=[3, 3])
        stored: boxsum.StoredTable = boxsum.integral(image, out="table.zarr")
        solid: boxsum.StoredTable = boxsum.volume(np.ones((2, 3, 4)), out="solid.zarr", squares=True)
        boxsum.box_sum(table, "0, 0, 1, 1")  # wrong
        boxsum.box_sum("table", boxes)  # wrong
        boxsum.box_mean(table, ["0", "0", "1", "1"])  # wrong
        boxsum.box_var(table, "squares", boxes)  # wrong
        boxsum.box_std(table, squares, "boxes")  # wrong
        boxsum.tilted_mean(table, "boxes")  # wrong
        boxsum.blur("image", 3)  # wrong
        boxsum.local_mean(image, "3")  # wrong
        boxsum.binarize(image, window=(3, 4, 5))  # wrong
        boxsum.integral(image, out="table.zarr")[0]  # wrong
        """)
    wrong = [str(i) for i, line in enumerate(source.splitlines(), 1) if line.endswith("# wrong")]
    program = tmp_path / "program.py"
    program.write_text(source)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", "--cache-dir", tmp_path / "cache", program],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    errors = [line for line in checked.stdout.splitlines() if ": error: " in line]
    assert [line.split(":")[1] for line in errors] == wrong, checked.stdout + checked.stderr
