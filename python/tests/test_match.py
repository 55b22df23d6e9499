"""Templates and cascades: what they find, and mistakes."""

import pickle

import numpy as np
import oracle
import pytest

import boxsum
import boxsum.detect

PIXELS = ("u1", "u2", "f4", "f8")


def by_definition(image, template, method, mask=None):
    image, template = (a.astype("f8").reshape(a.shape[:2] + (-1,)) for a in (image, template))
    h, w = template.shape[:2]
    mask = np.ones((h, w)) if mask is None else (np.asarray(mask) != 0).astype("f8")
    windows = np.lib.stride_tricks.sliding_window_view(image, (h, w), (0, 1))  # (H, W, C, h, w)
    t = template.transpose(2, 0, 1)
    if method == "zncc":
        n = mask.sum()
        windows = windows - (windows * mask).sum((3, 4), keepdims=True) / n
        t = t - (t * mask).sum((1, 2), keepdims=True) / n
    if method == "ssd":
        return ((windows - t) ** 2 * mask).sum((2, 3, 4))
    products = (windows * t * mask).sum((2, 3, 4))
    scale = np.sqrt((windows**2 * mask).sum((2, 3, 4)) * (t**2 * mask).sum())
    return np.divide(products, scale, out=np.zeros_like(products), where=scale > 1e-9)


@pytest.mark.parametrize("dtype", PIXELS)
@pytest.mark.parametrize("method", ["zncc", "ncc", "ssd"])
def test_definitions(dtype, method):
    rng = np.random.default_rng(0)
    for shape, size in (((30, 40), (5, 6)), ((33, 70, 3), (20, 31)), ((9, 9), (9, 9)), ((12, 50), (1, 7))):
        image = rng.integers(0, 256, shape).astype(dtype)
        template = rng.integers(0, 256, size + shape[2:]).astype(dtype)
        mask = rng.integers(0, 2, size)
        mask[0, :2] = 1
        for cover in (None, mask, mask.astype(bool), (mask * 255).astype("u1")):
            want = by_definition(image, template, method, cover)
            got = boxsum.match(image, template, method, mask=cover)
            assert got.dtype == np.float32
            if method == "ssd":
                np.testing.assert_allclose(got, want, rtol=1e-6)
            else:
                np.testing.assert_allclose(got, want, atol=1e-5)
        flipped = boxsum.match(np.asfortranarray(image), template[::-1].copy()[::-1], method)
        np.testing.assert_array_equal(flipped, boxsum.match(image, template, method, workers=1))
        out = np.zeros((got.shape[0] + 2, got.shape[1] + 5), "f4")[1:-1, 2:-3]
        assert boxsum.match(image, template, method, out=out) is out
        np.testing.assert_array_equal(out, flipped)


def test_places():
    image = np.random.default_rng(1).integers(0, 256, (90, 100)).astype(np.uint8)
    mark = image[20:32, 30:45].copy()
    image[60:72, 70:85] = mark // 2 + 40  # in other light
    boxes, scores = boxsum.find(image, mark, 2)
    assert boxes.tolist() == [[30, 20, 45, 32], [70, 60, 85, 72]] and (scores > 0.99).all()
    exact, _ = boxsum.find(image, mark, 2, subpixel=True)
    assert exact.dtype == np.float64 and np.abs(exact - boxes).max() <= 0.5
    assert boxsum.find(image, mark, method="ssd")[1][0] == 0
    assert len(boxsum.find(image, mark, 0)[0]) == 0


def test_mistakes(tmp_path):
    image = np.random.default_rng(2).integers(0, 256, (20, 30)).astype(np.uint8)
    for error, text, call in (
        (ValueError, "sad", lambda: boxsum.match(image, image[:4, :4], "sad")),
        (TypeError, "method must be 'zncc', 'ncc' or 'ssd'", lambda: boxsum.match(image, image[:4, :4], 3)),
        (TypeError, "template must have type uint8 like the image, got float32", lambda: boxsum.match(image, image[:4, :4].astype("f4"))),
        (ValueError, "larger|does not fit|no larger|template", lambda: boxsum.match(image[:4], image)),
        (ValueError, "flat|equal", lambda: boxsum.match(image, np.ones((3, 3), "u1"))),
        (ValueError, "mask must have shape", lambda: boxsum.match(image, image[:4, :4], mask=np.ones((3, 3)))),
        (ValueError, "channel", lambda: boxsum.match(np.dstack([image] * 3), image[:4, :4])),
        (TypeError, "did imread", lambda: boxsum.match(image, None)),
        (ValueError, "out must have shape", lambda: boxsum.match(image, image[:4, :4], out=np.empty((3, 3), "f4"))),
        (ValueError, "count must be .*, got -1", lambda: boxsum.find(image, image[:4, :4], -1)),
        (FileNotFoundError, "No such file.*none.xml", lambda: boxsum.detect.Cascade(tmp_path / "none.xml")),
    ):
        with pytest.raises(error, match=text):
            call()
    wrong = tmp_path / "wrong.xml"
    wrong.write_text("<opencv_storage><cascade></cascade></opencv_storage>")
    with pytest.raises(ValueError, match="line|cascade"):
        boxsum.detect.Cascade(wrong)


def test_cascades_on_a_device():
    if not any(d["device"].startswith("opencl") for d in boxsum.devices()):
        pytest.skip("no OpenCL device: install PoCL, Debian's pocl-opencl-icd")
    data = pytest.importorskip("skimage.data")
    photo = np.ascontiguousarray(data.astronaut()[:256, 100:356])
    for name in ("lbpcascade_frontalface", "haarcascade_frontalface_alt2"):
        cascade = boxsum.detect.Cascade(oracle.cascade(name))
        for image in (photo, photo[:, :, 1]):
            for neighbors in (0, 3):
                want = cascade.detect(image, neighbors=neighbors, device="cpu")
                assert len(want.boxes)
                for one, other in zip(cascade.detect(image, neighbors=neighbors, device="opencl"), want):
                    np.testing.assert_array_equal(one, other)
        with pytest.raises(ValueError, match="angles are not supported on a device"):
            cascade.detect(photo, angles=[90], device="opencl")
        with pytest.raises(ValueError, match="unknown device"):
            cascade.detect(photo, device="abacus")


def test_cascades():
    data = pytest.importorskip("skimage.data")
    cascade = boxsum.detect.Cascade(oracle.cascade("lbpcascade_frontalface"))
    assert cascade.kind == "LBP" and cascade.window == (24, 24) and "LBP of 24x24" in repr(cascade)
    photo = data.astronaut()
    found = cascade.detect(photo)
    again = pickle.loads(pickle.dumps(cascade)).detect(photo, workers=1)
    for one, other in zip(found, again):
        np.testing.assert_array_equal(one, other)
    assert len(found.boxes) and (found.stages == cascade.stages).all() and found.boxes.shape[1] == 4
    everything = cascade.detect(photo, neighbors=0)
    assert len(everything.boxes) > len(found.boxes) and (everything.neighbors == 1).all()
    assert len(cascade.detect(photo, ignore=[[0, 0, 512, 512]]).boxes) == 0
    assert len(cascade.detect(photo, ignore=[[512, 512, 0, 0]]).boxes) == len(found.boxes)  # an empty box
    assert len(cascade.detect(photo[::-1]).boxes) <= len(found.boxes)  # which is copied first
    small = np.ascontiguousarray(photo[:256, 100:356])
    each = cascade.detect(small, neighbors=0, angles=[0, 22.5, 45], each_angle=True, min_size=40)
    assert {0, 22.5} <= set(each.angles)
    shared = cascade.detect(small, neighbors=0, angles=[0, 22.5, 45], min_size=40)
    np.testing.assert_array_equal(shared.boxes[shared.angles == 0], each.boxes[each.angles == 0])
    one, other = (cascade.detect(image, neighbors=0, mirror=True, min_size=40) for image in (small, np.ascontiguousarray(small[:, ::-1])))
    assert one.mirrored.any() and not one.mirrored.all() and other.mirrored.any()
    assert not found.mirrored.any()
    tables = cascade.detect(small, neighbors=0, angles=[12], turn="tables", min_size=40)
    assert len(tables.boxes) and np.allclose(tables.angles, np.degrees(np.arctan(1 / 5)))  # the nearest ratio
    for error, text, call in (
        (TypeError, "image must have type uint8, got float64", lambda: cascade.detect(photo / 255)),
        (ValueError, "finite", lambda: cascade.detect(photo, scale=float("nan"))),
        (ValueError, "scale must be greater than 1, got 0", lambda: cascade.detect(photo, scale=0)),
        (ValueError, "turn must be .*, got 'picture'", lambda: cascade.detect(photo, turn="picture")),
        (ValueError, "[Ss]cale", lambda: cascade.detect(photo, scale=0.5)),
        (ValueError, "neighbors must be .*, got -1", lambda: cascade.detect(photo, neighbors=-1)),
        (TypeError, "min_size", lambda: cascade.detect(photo, min_size=2.5)),
        (ValueError, "windows|limit|Limit", lambda: cascade.detect(photo, neighbors=0, limit=1)),
        (ValueError, "channels", lambda: cascade.detect(photo[:, :, :2])),
    ):
        with pytest.raises(error, match=text):
            call()
