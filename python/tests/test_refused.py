"""Numbers that would be plausible and wrong: each is right, or refused, and nothing is lost."""

import numpy as np
import pytest

import boxsum


def noise(*shape, dtype=np.uint8):
    return np.random.default_rng(0).integers(0, 256, shape).astype(dtype)


def overlapping():
    """Calls whose out lies in memory of what is read, or of another image of the batch."""
    planes = dict(axes=(-2, -1))

    def shifted(of, shape=(4, 30, 40), dtype=np.uint8):
        buffer = noise(*shape, dtype=dtype)
        return buffer, lambda: of(buffer[:-1], buffer[1:])

    yield shifted(lambda a, out: boxsum.blur(a, 2, out=out, **planes))
    yield shifted(lambda a, out: boxsum.blur(a, sigma=2, out=out, **planes))
    yield shifted(lambda a, out: boxsum.median(a, 3, out=out, **planes))
    yield shifted(lambda a, out: boxsum.guided(a, 2, 100, out=out, **planes))
    yield shifted(lambda a, out: boxsum.guided(a.copy(), 2, 100, guide=a, out=out, **planes))
    yield shifted(lambda a, out: boxsum.local_mean(a, 3, out=out, **planes), dtype=np.float32)
    yield shifted(lambda a, out: boxsum.local_mean_std(a.copy(), 3, out=(a, out), **planes), dtype=np.float32)
    yield shifted(lambda a, out: boxsum.integral(a[:, :29, :39], out=out, **planes), dtype=np.float64)
    yield shifted(lambda a, out: boxsum.integral(a[:, :29, :39], out=out, **planes), dtype=np.int64)
    yield shifted(lambda a, out: boxsum.integral(noise(3, 29, 39), squares=True, out=(a, out), **planes), dtype=np.uint64)
    turned = noise(3, 30, 40)
    yield turned, lambda: boxsum.blur(turned[::-1], 2, out=turned, **planes)
    one = np.zeros((1, 31, 41), np.uint32)
    folded = np.lib.stride_tricks.as_strided(one, (3, 31, 41), (0, *one.strides[1:]))
    yield one, lambda: boxsum.integral(noise(3, 30, 40), out=folded, **planes)
    for dtype in ("i8", "u8", ">u2", "i1", "f2"):  # of which a copy is summed
        room = np.zeros(36 * 8, np.uint8)
        image = room[: 25 * np.dtype(dtype).itemsize].view(dtype).reshape(5, 5)
        image[...] = np.arange(25).reshape(5, 5)
        wide = {"i": np.int64, "u": np.uint64, "f": np.float64}[image.dtype.kind]
        yield room, lambda image=image, room=room, wide=wide: boxsum.integral(image, out=room.view(wide).reshape(6, 6))
    column = noise(6, 6, dtype=np.float64)
    yield column, lambda: boxsum.integral(column.T[:5, :5], out=column)
    yield column, lambda: boxsum.integral(column[:5, :5], nan="skip", out=(column, None))


@pytest.mark.parametrize("buffer, call", list(overlapping()))
def test_memory_in_common(buffer, call):
    before = buffer.copy()
    with pytest.raises(ValueError, match="memory"):
        call()
    assert np.array_equal(buffer, before)


def test_memory_beside_each_other():
    """What lies between the images of a batch is no part of it, and a filter may be asked for in place."""
    both = noise(6, 30, 40)
    expected = boxsum.blur(both[::2].copy(), 2, axes=(1, 2))
    assert np.array_equal(boxsum.blur(both[::2], 2, out=both[1::2], axes=(1, 2)), expected)
    planes = noise(3, 30, 40)
    expected = boxsum.blur(planes, 2, axes=(1, 2))
    assert np.array_equal(boxsum.blur(planes, 2, out=planes, axes=(1, 2)), expected)


def masked():
    return np.ma.masked_greater(np.arange(12, dtype=np.uint8).reshape(3, 4), 5)


@pytest.mark.parametrize("call", [
    lambda m, path: boxsum.integral(m, out=path),
    lambda m, path: boxsum.volume(np.ma.stack([m, m]), out=path),
    lambda m, path: boxsum.integral(list(m), out=path),
    lambda m, path: boxsum.integral(list(m)),
    lambda m, path: boxsum.match(noise(9, 9), noise(3, 4), mask=m),
])  # fmt: skip
def test_a_mask_is_not_lost(call, tmp_path):
    with pytest.raises(ValueError, match="masked elements"):
        call(masked(), str(tmp_path / "m.zarr"))
    assert not list(tmp_path.iterdir())


def valid_tables():
    m = np.ma.masked_greater(noise(40, 50), 200)
    return m, *boxsum.integral(m, squares=True)


BOX = [3, 2, 30, 25]


def test_copies_of_tables_of_valid_pixels(tmp_path):
    """Those that the table makes know their counts, and those of NumPy are told from others."""
    m, sums, squares = valid_tables()
    mean, deviation = m[2:25, 3:30].mean(), m[2:25, 3:30].std()
    np.save(tmp_path / "t.npy", sums)
    plain = [np.array(sums), np.asfortranarray(sums), np.copy(sums), np.load(tmp_path / "t.npy"), sums.astype(float).view(np.ndarray).copy()]
    for copy in plain + [np.array(sums)[1:], np.array(sums[2:, 3:]), np.array(sums.T), np.array(sums * 2), sums.tolist()]:
        with pytest.raises(ValueError, match="pass counts="):
            boxsum.box_mean(copy, BOX)
    for copy in plain:
        assert boxsum.box_mean(copy, BOX, counts=sums.counts) == pytest.approx(mean, rel=1e-12)
        assert boxsum.box_mean(copy, BOX, counts=False) == pytest.approx(m.filled(0)[2:25, 3:30].mean(), rel=1e-12)
    with pytest.raises(ValueError, match="pass counts="):
        boxsum.box_mean(np.stack([np.asarray(sums), np.asarray(sums)]), BOX, axes=(1, 2))
    for copy, second in ((sums.copy(), squares.copy()), (np.asarray(sums), squares), (np.ascontiguousarray(sums), squares), (sums * 1, squares + 0), (sums[:], squares[:])):
        assert boxsum.box_mean(copy, BOX) == pytest.approx(mean, rel=1e-12)
        assert boxsum.box_std(copy, second, BOX) == pytest.approx(deviation, rel=1e-12)
    assert boxsum.box_mean(sums, BOX, counts=False) == pytest.approx(m.filled(0)[2:25, 3:30].mean(), rel=1e-12)
    for side in (500, 900):  # large tables of all pixels are told from copies, also where the others are 0
        large = noise(side, side)
        valid = boxsum.integral(np.ma.masked_equal(large, 0))
        assert boxsum.box_mean(boxsum.integral(large), [0, 0, side, side]) == pytest.approx(large.mean(), rel=1e-12)
        with pytest.raises(ValueError, match="counts=False"):
            boxsum.box_mean(np.array(valid), [0, 0, side, side])
    other = boxsum.integral(noise(40, 50).T.reshape(40, 50).copy())  # of all pixels
    assert boxsum.box_mean(np.array(other), [0, 0, 1, 1]) == other[1, 1]


def test_mixtures_of_tables_of_valid_pixels():
    m, sums, squares = valid_tables()
    other, others = boxsum.integral(np.ma.masked_less(noise(40, 50), 90), squares=True)
    assert boxsum.box_mean(sums + sums, BOX) == pytest.approx(2 * m[2:25, 3:30].mean())
    whole, wholes = boxsum.integral(noise(40, 50), squares=True)
    added = sums.copy()
    added += other
    for call in (
        lambda: boxsum.box_mean(sums + other, BOX),
        lambda: boxsum.box_mean(added, BOX),
        lambda: boxsum.box_mean(sums + whole, BOX),
        lambda: boxsum.box_mean(np.add.accumulate(sums), BOX),
        lambda: boxsum.box_var(np.array(sums), squares, BOX),
        lambda: boxsum.box_var(sums, np.array(squares), BOX),
        lambda: boxsum.box_var(sums, others, BOX),
        lambda: boxsum.box_var(sums, wholes, BOX),
        lambda: boxsum.box_var(whole, squares, BOX),
    ):
        with pytest.raises(ValueError, match="pass counts="):
            call()


def test_valid_pixels_have_no_features():
    _, sums, squares = valid_tables()
    for call in (lambda t: boxsum.haar(t, features=[[1, 0, 0, 4, 4]]), lambda t: boxsum.tilted_mean(t, [[4, 0, 2, 2]])):
        for table in (sums, np.array(sums), sums[1:]):
            with pytest.raises(ValueError, match="all pixels"):
                call(table)


def test_features_of_sums_that_wrap():
    white = np.zeros((4200, 5000), np.uint8)
    white[:, 2500:] = 255
    white[5, 7] = 9
    features = [[1, 0, 0, 5000, 4200], [2, 0, 0, 5000, 4200], [1, 2498, 0, 2502, 4200]]
    expected = boxsum.haar(boxsum.integral(white), features=features)
    assert expected[0, 0] == 4200 * 2500 * 255 - 9
    for dtype in ("u4", "i4"):
        assert np.array_equal(boxsum.haar(boxsum.integral(white, dtype=dtype), features=features), expected)
    deep = white[:420].astype(np.uint16) * 257
    features = [[1, 0, 0, 5000, 420]]
    expected = boxsum.haar(boxsum.integral(deep), features=features)
    assert np.array_equal(boxsum.haar(boxsum.integral(deep, dtype="u4"), features=features), expected)


def test_numbers_of_another_method():
    page = noise(20, 30)
    for named, text in ((dict(r=0), "greater than 0"), (dict(white=0), "greater than 0"), (dict(t=200), "has no parameter t"), (dict(c=5), "has no parameter c"), (dict(min_n=5), "has no parameter min_n")):
        for function in (boxsum.binarize, boxsum.threshold_map):
            with pytest.raises(ValueError, match=text):
                function(page, "sauvola", **named)
    for method, named in (("su", dict(min_n=0)), ("otsu", dict(k=0.2)), ("bradley", dict(k=0.2)), ("niblack", dict(r=128))):
        with pytest.raises(ValueError, match="min_n must be|has no"):
            boxsum.binarize(page, method, **named)
    assert boxsum.binarize(page, "phansalkar", k=0.25, r=100, white=250, p=2, q=9).shape == page.shape


def test_nan_is_white():
    page = np.random.default_rng(0).random((20, 30))
    page[5, 6] = np.nan
    for method in ("sauvola", "niblack", "wolf", "nick", "trsingh", "phansalkar", "bradley"):
        assert (boxsum.binarize(page, method, window=5)[3:8, 4:9] == 255).all()
        level = boxsum.threshold_map(page, method, window=5)
        assert np.isnan(level[3:8, 4:9]).all() and np.isnan(level).sum() == 25


def test_digits_of_a_table_that_is_overwritten():
    """What is remembered of a table does not answer for another that keeps its last row."""
    rng = np.random.default_rng(0)
    sums, squares = boxsum.integral(rng.random((60, 70)) + 1e7, squares=True)
    others = boxsum.integral(rng.random((60, 70)) + 3, squares=True)
    volume = boxsum.volume(rng.integers(0, 9, (20, 30, 40)) << 40)  # whose bound is remembered
    for table, other in ((sums, others[0]), (squares, others[1])):
        table[:-1] = other[:-1]
    plain = [np.array(t) for t in (sums, squares)]
    box = [0, 0, 10, 10]
    assert boxsum.box_mean(sums, box) == boxsum.box_mean(plain[0], box)
    np.testing.assert_equal(boxsum.box_std(sums, squares, box), boxsum.box_std(*plain, box))
    mean = boxsum.box_mean(volume, [0, 0, 0, 9, 9, 9])
    volume[:-1] = 0
    assert boxsum.box_mean(volume, [0, 0, 0, 9, 9, 9]) == 0 != mean


@pytest.mark.parametrize("wrong, text, call", [
    (TypeError, "cache must be an integer", lambda: boxsum.open("t.zarr", cache=1.5)),
    (ValueError, "cache must be .*, got 0", lambda: boxsum.open("t.zarr", cache=0)),
    (TypeError, "axes must be integers", lambda: boxsum.integral(noise(3, 4, 5), axes=2)),
    (ValueError, "axes must be three for a volume", lambda: boxsum.volume(noise(3, 4, 5), axes=2)),
    (TypeError, "axes must be integers", lambda: boxsum.blur(noise(3, 4, 5), 1, axes=2)),
    (ValueError, "kinds from 1 to 8", lambda: boxsum.haar(boxsum.integral(noise(9, 9)), features=[[99, 0, 0, 4, 4]])),
])  # fmt: skip
def test_errors_are_clear(wrong, text, call):
    with pytest.raises(wrong, match=text):
        call()


def test_batches_of_nothing():
    for dtype, sums in (("i8", None), ("u2", "u4"), ("f4", None), ("u1", None)):
        image = np.zeros((0, 3, 4), dtype)
        assert boxsum.integral(image, dtype=sums, axes=(-2, -1)).shape == (0, 4, 5)
        assert [t.shape for t in boxsum.integral(image, squares=True, axes=(-2, -1))] == [(0, 4, 5)] * 2


def test_one_array_of_a_pair():
    images = noise(2, 20, 30)
    expected = boxsum.local_mean_std(images, 3, axes=(-2, -1))
    deviations = np.empty(images.shape, np.float32)
    got = boxsum.local_mean_std(images, 3, axes=(-2, -1), out=(None, deviations))
    assert got[1] is deviations
    np.testing.assert_array_equal(got, expected)
