"""Tables of valid pixels: masks, NaN that is missing, masked arrays."""

import itertools

import boxsum
import numpy as np
import pytest

TYPES = ["u1", "u2", "u4", "i2", "i4", "f4", "f8", "i1", "i8", "u8", "f2", "?", ">f4"]


def pixels(shape, dtype, rng):
    if np.dtype(dtype).kind == "f":
        return rng.normal(10, 3, shape).astype(dtype)
    return rng.integers(0, 2 if dtype == "?" else 100, shape).astype(dtype)


def expected(image, valid, box):
    x0, y0, x1, y1 = box
    part, shown = image[y0:y1, x0:x1].astype(float), valid[y0:y1, x0:x1]
    values = part[shown]
    return (values.sum(), values.mean(), values.std(), values.size) if values.size else (0, np.nan, np.nan, 0)


@pytest.mark.parametrize("dtype", TYPES)
def test_boxes_of_valid_pixels(dtype):
    rng = np.random.default_rng(1)
    for shape, squares, how in itertools.product([(13, 17), (9, 40, 3)], [False, True], ["mask", "one", "ma", "both", "nan"]):
        image = pixels(shape, dtype, rng)
        valid = rng.random(shape) > 0.4
        if how == "one" or how == "both":
            valid = rng.random(shape[:2]) > 0.4
        hidden = rng.random(shape) > 0.8
        full = np.broadcast_to(valid if valid.ndim == image.ndim else valid[..., None], shape)
        given, options = image, {"mask": valid}
        if how == "ma":
            given, options = np.ma.masked_array(image, ~valid), {"mask": True}
        if how == "both":
            given, full = np.ma.masked_array(image, hidden), full & ~hidden
        if how == "nan":
            if image.dtype.kind != "f":
                continue
            image[~full], options = np.nan, {"nan": "skip"}
        tables = boxsum.integral(given, squares=squares, **options)
        assert len(tables) == 2 + squares
        sums, counts = tables[0], tables[-1]
        assert counts.dtype == np.uint32 and counts.shape == sums.shape
        boxes = [(0, 0, shape[1], shape[0]), (2, 3, 4, 5), (5, 5, 6, 6), (0, 0, 0, 0)]
        for c, box in itertools.product(range(shape[2] if len(shape) == 3 else 1), boxes):
            at = (Ellipsis, c) if len(shape) == 3 else (Ellipsis,)
            sum_, mean, std, n = expected(image[at], full[at], box)
            np.testing.assert_allclose(float(boxsum.box_sum(sums, box)[at]), sum_, rtol=1e-9, atol=1e-9)
            assert boxsum.box_sum(counts, box)[at] == n
            np.testing.assert_allclose(boxsum.box_mean(sums, box, counts=counts)[at], mean, rtol=1e-9)
            if squares:
                np.testing.assert_allclose(boxsum.box_std(sums, tables[1], box, counts=counts)[at], std, rtol=1e-6, atol=1e-6)
                np.testing.assert_allclose(boxsum.box_var(sums, tables[1], box, counts=counts)[at], std**2, rtol=1e-6, atol=1e-6)


def test_masks_of_any_type():
    rng = np.random.default_rng(2)
    image, valid = rng.integers(0, 255, (20, 30), np.uint8), rng.random((20, 30)) > 0.5
    want = boxsum.integral(image, mask=valid)
    masks = [valid.astype("u1"), valid.astype("u1") * 200, valid.astype(float) / 3, valid.tolist(), valid[..., None], np.asfortranarray(valid)]
    wide = np.zeros((20, 60), bool)
    wide[:, ::2] = valid
    for mask in [*masks, wide[:, ::2]]:
        for got, table in zip(boxsum.integral(image, mask=mask), want):
            np.testing.assert_array_equal(got, table)
    for other in (np.asfortranarray(image), image.tolist()):
        np.testing.assert_array_equal(boxsum.integral(other, mask=valid)[0], want[0])
    np.testing.assert_array_equal(boxsum.integral(image, mask=True)[0], boxsum.integral(image))


def test_what_is_left_out_need_not_fit():
    image = np.array([[1, 2, 1 << 60], [4, 5, 6]])
    sums, counts = boxsum.integral(image, mask=image < 100)
    assert sums.dtype == np.int64 and sums[-1, -1] == 18 and counts[-1, -1] == 5
    hidden = np.ma.masked_greater(image, 100)
    assert boxsum.integral(hidden, mask=True, dtype="i8")[0][-1, -1] == 18


def test_tables_that_are_there():
    image = np.arange(12, dtype="f4").reshape(3, 4)
    image[1, 1] = np.nan
    out = np.empty((4, 5)), np.empty((4, 5)), np.empty((4, 5), "u4")
    made = boxsum.integral(image, squares=True, nan="skip", out=out, workers=2)
    assert all(a is b for a, b in zip(made, out)) and out[2][-1, -1] == 11 and out[0][-1, -1] == 61
    answers = np.empty(1)
    assert boxsum.box_mean(out[0], [[0, 0, 4, 3]], counts=out[2], out=answers) is answers and answers[0] == 61 / 11
    swapped = boxsum.box_mean(out[0].astype(">f8"), [0, 0, 4, 3], counts=np.asfortranarray(out[2]))
    assert swapped == 61 / 11


def test_opencl_gives_the_same_tables():
    if not any(d["device"].startswith("opencl") for d in boxsum.devices()):
        pytest.skip("no OpenCL device: install PoCL, Debian's pocl-opencl-icd")
    image = np.random.default_rng(0).integers(0, 256, (67, 91), np.uint8)
    mask = image > 100
    for got, want in zip(boxsum.integral(image, mask=mask, squares=True, device="opencl"), boxsum.integral(image, mask=mask, squares=True)):
        np.testing.assert_array_equal(got, want)


def test_mistakes():
    image = np.zeros((3, 4), "f4")
    sums, squares, counts = boxsum.integral(image, squares=True, nan="skip")
    masked = np.ma.masked_array(image, image == 0)
    for error, text, make in (
        (ValueError, "'keep' or 'skip'", lambda: boxsum.integral(image, nan="omit")),
        (ValueError, "tilted must be False", lambda: boxsum.integral(image, nan="skip", tilted=True)),
        (ValueError, "unknown device", lambda: boxsum.integral(image, nan="skip", device="tpu")),
        (ValueError, r"mask must have .*, got \(4, 3\)", lambda: boxsum.integral(image, mask=image.T)),
        (ValueError, r"mask must have .*, got \(\)", lambda: boxsum.integral(image, mask=False)),
        (ValueError, r"mask must have .*, got \(3, 4, 2\)", lambda: boxsum.integral(image, mask=np.ones((3, 4, 2)))),
        (ValueError, "with mask=True, out must hold", lambda: boxsum.integral(masked, out=sums)),
        (ValueError, "tilted must be False", lambda: boxsum.integral(masked, tilted=True)),
        (ValueError, "masked elements", lambda: boxsum.integral(image, mask=masked)),
        (ValueError, "out must hold 3 arrays, one for each table, got 2", lambda: boxsum.integral(image, squares=True, nan="skip", out=(sums, counts))),
        (TypeError, "counts have type float64", lambda: boxsum.integral(image, nan="skip", out=(sums, squares))),
        (ValueError, "counts must be uint32 .*, got float64", lambda: boxsum.box_mean(sums, [0, 0, 1, 1], counts=squares)),
        (ValueError, "with the shape of the table", lambda: boxsum.box_mean(sums, [0, 0, 1, 1], counts=counts[1:])),
        (ValueError, "4 numbers", lambda: boxsum.box_mean(sums, [0, 0, 0, 1, 1, 1], counts=counts)),
        (ValueError, "share memory", lambda: boxsum.integral(image, nan="skip", out=(sums, sums.view("u4")[:, :5]))),
    ):
        with pytest.raises(error, match=text):
            make()
