"""Drop-in functions beside the originals."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import pixels

from boxsum.compat import cv2 as ours_cv2
from boxsum.compat import skimage as ours_skimage

cv2 = pytest.importorskip("cv2")
transform = pytest.importorskip("skimage.transform")

SHAPES = [(1, 1), (9,), (5, 7), (6, 4, 1), (64, 33), (40, 30, 3), (9, 8, 4)]


def agree(ours, theirs, exact):
    ours, theirs = (a if isinstance(a, tuple) else (a,) for a in (ours, theirs))
    assert len(ours) == len(theirs)
    for got, want in zip(ours, theirs):
        assert got.dtype == want.dtype and got.shape == want.shape
        if exact or got.dtype.kind != "f":
            np.testing.assert_array_equal(got, want)
        else:
            tolerance = 1e-12 if got.dtype == np.float64 else 1e-4
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * float(np.abs(want).max(initial=0)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["u1", "u2", "i2", "f4", "f8"])
def test_cv2(shape, dtype):
    image = pixels(shape, dtype)
    for name in ("integral", "integral2", "integral3"):
        agree(getattr(ours_cv2, name)(image), getattr(cv2, name)(image), exact=True)


@pytest.mark.parametrize("dtype", ["u1", "u2", "i2", "i4", "f4", "f8", "i1", "u4", "i8"])
def test_cv2_depths(dtype):
    image = pixels((20, 30), dtype)
    for sdepth, sqdepth in itertools.product([-1, cv2.CV_32S, cv2.CV_32F, cv2.CV_64F, cv2.CV_16S], [-1, cv2.CV_32S, cv2.CV_32F, cv2.CV_64F]):
        try:
            theirs = cv2.integral2(image, sdepth=sdepth, sqdepth=sqdepth)
        except cv2.error:
            with pytest.raises(cv2.error):
                ours_cv2.integral2(image, sdepth=sdepth, sqdepth=sqdepth)
            continue
        agree(ours_cv2.integral2(image, sdepth=sdepth, sqdepth=sqdepth), theirs, exact=False)
        if sqdepth == -1:
            agree(ours_cv2.integral(image, sdepth=sdepth), cv2.integral(image, sdepth=sdepth), exact=False)
            agree(ours_cv2.integral(image, None, sdepth), cv2.integral(image, None, sdepth), exact=False)


def test_cv2_large_and_out():
    image = pixels((1200, 1500), "u1")
    agree(ours_cv2.integral3(image), cv2.integral3(image), exact=True)
    sums, squares, tilted = np.zeros((1201, 1501), "i4"), np.zeros((1201, 1501)), np.zeros((1201, 1501), "i4")
    got = ours_cv2.integral3(image, sums, squares, tilted)
    assert got[0] is sums and got[2] is tilted and np.shares_memory(got[1], squares)
    agree((sums, squares, tilted), cv2.integral3(image), exact=True)
    assert ours_cv2.integral(image, np.zeros((3, 3), "i4")).shape == (1201, 1501)  # as OpenCV: another is made
    smooth = np.random.default_rng(0).normal(size=(300, 400)).astype("f4")
    agree(ours_cv2.integral3(smooth), cv2.integral3(smooth), exact=False)


@pytest.mark.parametrize("image", [np.zeros((2, 2), "i4"), np.zeros((2, 2, 0), "u1"), np.zeros((2, 2, 129), "u1"), np.uint8(3), np.zeros((2, 2), "c8"), np.zeros((2, 2, 2, 2), "u1")])
def test_cv2_errors(image):
    for name in ("integral", "integral2", "integral3"):
        with pytest.raises(cv2.error):
            getattr(ours_cv2, name)(image)


def test_cv2_arguments():
    image = pixels((5, 6), "u1")
    strided, thick = np.zeros((6, 20), "i4")[:, :7], np.zeros((6, 7, 1), "i4")
    for out in (strided, thick):
        assert ours_cv2.integral(image, out) is out and cv2.integral(image, out.copy()).shape == out.shape
        np.testing.assert_array_equal(out.reshape(6, 7), cv2.integral(image))
    frozen = np.zeros((6, 7), "i4")
    frozen.flags.writeable = False
    for out in (frozen, np.zeros((6, 7), "i4", order="F"), np.zeros((6, 7), "i4")[::-1], [[0]], np.zeros((6, 7), "i8")):
        for module in (cv2, ours_cv2):
            with pytest.raises(cv2.error):
                module.integral(image, out)
    for depth in (12, 20, "x", 4.0, True):
        for module in (cv2, ours_cv2):
            with pytest.raises(cv2.error):
                module.integral(image, sdepth=depth)
    with pytest.raises(cv2.error, match="share memory"):
        ours_cv2.integral3(image, strided, None, strided)
    for shape in [(0, 0), (0, 5)]:  # integral3 of the second ends OpenCV 5.0
        agree(ours_cv2.integral(np.zeros(shape, "u1")), cv2.integral(np.zeros(shape, "u1")), exact=True)
        assert [t.any() for t in ours_cv2.integral3(np.zeros(shape, "u1"))] == [False] * 3


def test_cv2_types_with_channels():
    image = pixels((5, 6, 3), "u1")
    for sdepth in (cv2.CV_32SC3, cv2.CV_32FC3, cv2.CV_64FC2, cv2.CV_32SC1, cv2.CV_32SC4):
        agree(ours_cv2.integral(image, sdepth=sdepth), cv2.integral(image, sdepth=sdepth), exact=True)
        agree(ours_cv2.integral3(image, sdepth=sdepth, sqdepth=cv2.CV_64FC3), cv2.integral3(image, sdepth=sdepth, sqdepth=cv2.CV_64FC3), exact=True)
    for depth in (cv2.CV_8UC3, cv2.CV_16SC3, cv2.CV_32UC3):
        for module in (cv2, ours_cv2):
            with pytest.raises(cv2.error):
                module.integral(image, sdepth=depth)
    with pytest.raises(cv2.error, match="sdepth and sqdepth must be CV_32S with CV_64F, CV_32S with CV_32F"):
        ours_cv2.integral(image, sdepth=cv2.CV_16S)
    with pytest.raises(cv2.error, match="must have type uint8, uint16, int16, float32, float64"):
        ours_cv2.integral(image.astype("i4"))


@pytest.mark.parametrize("source", [(1, 2, 3), (1.5, -2), (), (7,), 5, 2.5, True, (True, 1), np.float64(3)])
def test_cv2_numbers(source):
    """A tuple is a column."""
    agree(ours_cv2.integral(source), cv2.integral(source), exact=True)
    if not isinstance(source, tuple) or source:  # which ends OpenCV 5.0
        agree(ours_cv2.integral3(source), cv2.integral3(source), exact=True)


def test_cv2_what_is_no_image():
    for source in [((1, 2), (3, 4)), (np.uint8(1), 2), "x", ("a",)]:
        for module in (cv2, ours_cv2):
            with pytest.raises(cv2.error):
                module.integral(source)
    with pytest.raises(cv2.error, match="did imread find the file"):
        ours_cv2.integral(None)
    image = pixels((5, 6), "u1")
    for out in ((1, 2), 5):
        agree(ours_cv2.integral(image, out), cv2.integral(image, out), exact=True)


def test_cv2_umat():
    image = pixels((40, 600), "u1")

    def outs(module, *arguments):
        names = {1: "integral", 2: "integral2", 3: "integral3"}
        made = getattr(module, names[len(arguments) - 1])(*arguments)
        return made if isinstance(made, tuple) else (made,)

    for count in (1, 2, 3):
        for kinds in itertools.product([None, "array", "umat", "other"], repeat=count):
            for source in (image, cv2.UMat(image)):
                if source is image and not {"umat", "other"} & set(kinds):
                    continue  # a call without UMat
                results = []
                for module in (ours_cv2, cv2):
                    room = {None: lambda t: None, "array": lambda t: np.zeros((41, 601), t), "umat": lambda t: cv2.UMat(np.zeros((41, 601), t)), "other": lambda t: cv2.UMat(np.zeros((2, 2), t))}
                    rooms = [room[g](t) for g, t in zip(kinds, ("i4", "f8", "i4"))]
                    made = outs(module, source, *rooms)
                    assert all(isinstance(m, cv2.UMat) for m in made)
                    results.append([m.get() for m in made] + [r.get() if isinstance(r, cv2.UMat) else r for r in rooms if r is not None])
                agree(tuple(results[0]), tuple(results[1]), exact=True)
    agree(ours_cv2.integral(cv2.UMat(image), sdepth=cv2.CV_64F).get(), cv2.integral(image, sdepth=cv2.CV_64F), exact=True)
    large = pixels((900, 1001), "u1")
    agree(ours_cv2.integral(cv2.UMat(large)).get(), cv2.integral(large), exact=True)
    with pytest.raises(cv2.error):
        ours_cv2.integral(cv2.UMat(image.astype("i4")))


@pytest.mark.parametrize("shape", [(5, 7), (900, 1001), (6, 7, 8)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_skimage_integral_image_lies_as_theirs(shape, order):
    """Its compiled code takes arrays without gaps only."""
    whole = np.asarray(pixels(shape, "u1"), order=order)
    frozen = whole.copy(order)
    frozen.flags.writeable = False
    for image in (whole, whole[::-1], whole[:, 1:], whole.T, whole.astype("f4"), whole > 9, frozen):
        ours, theirs = ours_skimage.integral_image(image), transform.integral_image(image)
        agree(ours, theirs, exact=True)
        assert ours.strides == theirs.strides
        for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED"):
            assert ours.flags[flag] == theirs.flags[flag]


def test_skimage_compiled_code_takes_our_tables():
    haar = pytest.importorskip("skimage.feature").haar_like_feature
    image = pixels((900, 600), "u1")
    ii = ours_skimage.integral_image(image.astype("f8"))
    np.testing.assert_array_equal(haar(ii, 3, 4, 5, 5, "type-2-x"), haar(transform.integral_image(image.astype("f8")), 3, 4, 5, 5, "type-2-x"))


@pytest.mark.parametrize("dtype", ["b1", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"])
@pytest.mark.parametrize("shape", [(1,), (9,), (5, 7), (64, 33), (6, 7, 8), (2, 3, 4, 5), (0, 3)])
def test_skimage_integral_image(shape, dtype):
    image = pixels(shape, dtype)
    agree(ours_skimage.integral_image(image), transform.integral_image(image), exact=True)
    for sums in ("u4", "f4", "f8", "i8", "i2"):
        agree(ours_skimage.integral_image(image, dtype=sums), transform.integral_image(image, dtype=sums), exact=dtype not in ("f2", "i8", "u8"))


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from([1, 2, 3]))
def test_skimage_integrate(data, axes):
    shape = tuple(data.draw(st.integers(1, 9)) for _ in range(axes))
    image = np.random.default_rng(data.draw(st.integers(0, 99))).normal(size=shape)
    if data.draw(st.booleans()):
        image = (100 * image).astype(data.draw(st.sampled_from(["i4", "i8", "f4"])))
    ii = transform.integral_image(image)
    corner = st.tuples(*(st.integers(-2 * n - 1, n) for n in shape))
    n = data.draw(st.integers(1, 4))
    start, end = data.draw(st.lists(corner, min_size=n, max_size=n)), data.draw(st.lists(corner, min_size=n, max_size=n))
    if data.draw(st.booleans()):
        start, end = start[0], end[0]
    try:
        want = transform.integrate(ii, start, end)
    except IndexError:
        with pytest.raises(IndexError):
            ours_skimage.integrate(ii, start, end)
        return
    np.testing.assert_array_equal(ours_skimage.integrate(ii, start, end), want)


def test_skimage_subclasses_and_complex():
    image = pixels((6, 7), "u1")
    for array in (np.ma.masked_array(image, image > 99), image.view(np.recarray), image.astype("c8")):
        ours, theirs = ours_skimage.integral_image(array), transform.integral_image(array)
        assert type(ours) is type(theirs)
        agree(ours, theirs, exact=True)
    stored = ((image > 99) * np.uint8(255)).view(bool)
    agree(ours_skimage.integral_image(stored), transform.integral_image(stored), exact=True)


def test_skimage_integrate_of_views():
    image = pixels((40, 50), "u1")
    ours, theirs = ours_skimage.integral_image(image), transform.integral_image(image)
    start = np.random.default_rng(0).integers(0, 20, (100, 2))
    end = start + np.random.default_rng(1).integers(0, 20, (100, 2))
    want = transform.integrate(theirs, start, end)
    for ii in (ours, theirs, theirs.astype(">u8"), np.asfortranarray(theirs), theirs[::-1][::-1], theirs.astype("u2").astype("u8") * 0 + theirs):
        np.testing.assert_array_equal(ours_skimage.integrate(ii, start, end), want)
    none = np.zeros((0, 2))
    assert ours_skimage.integrate(ours, none, none).shape == transform.integrate(theirs, none, none).shape == (0,)
    for function, ii in ((ours_skimage.integrate, ours), (transform.integrate, theirs)):
        with pytest.raises(IndexError):
            function(ii, [(1, 1)], np.zeros((0, 2), int))
    for axes, error in ((1, TypeError), (2, ValueError), (3, ValueError)):
        table = np.ones((4,) * axes)
        point = [(1,) * axes]
        for corners in (([], []), ([], point), (point, []), ([], point * 2)):
            for function in (ours_skimage.integrate, transform.integrate):
                with pytest.raises(error):
                    function(table, *corners)
    with pytest.raises(TypeError):
        ours_skimage.integrate(ours, [(0.5, 0)], [(1, 1)])
    with pytest.raises(ValueError):
        ours_skimage.integrate(ours, [(0, 0)] * 3, [(1, 1)] * 2)
