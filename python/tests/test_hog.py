"""Histograms of oriented gradients, beside OpenCV's of the last version that has them."""

import atexit
import functools
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from oracle import pixels

import boxsum.detect
from boxsum.compat import cv2 as ours

# Answers (arguments of the constructor, calls) with the results of the calls, or the names of their exceptions.
THEIRS = """
import pickle, sys
import cv2
cv2.setNumThreads(1)
if sys.argv[1:] == ["people"]:
    sys.stdout.buffer.write(pickle.dumps([cv2.HOGDescriptor_getDefaultPeopleDetector(), cv2.HOGDescriptor_getDaimlerPeopleDetector()]))
    sys.exit()
while True:
    try:
        arguments, named, calls = pickle.load(sys.stdin.buffer)
    except EOFError:
        break
    hog, answers = None, []
    for name, given in [("", ()), *calls]:
        try:
            if hog is None:
                hog = cv2.HOGDescriptor(*arguments, **named)
                answers.append(None)
            else:
                found = getattr(hog, name)
                answers.append(found(*given) if callable(found) else found)
        except Exception as error:
            answers.append(type(error).__name__)
    pickle.dump(answers[1:], sys.stdout.buffer)
    sys.stdout.buffer.flush()
"""


def python():
    """The interpreter with OpenCV below 5."""
    found = os.environ.get("BOXSUM_CASCADES_PYTHON")
    if not found:
        pytest.skip("BOXSUM_CASCADES_PYTHON must name a Python with OpenCV below 5; make test-python sets one up")
    return found


@functools.cache
def people():
    """OpenCV's coefficients: of people, and of Daimler's."""
    return pickle.loads(subprocess.run([python(), "-c", THEIRS, "people"], stdout=subprocess.PIPE, check=True).stdout)


@functools.cache
def process():
    started = subprocess.Popen([python(), "-c", THEIRS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(started.stdin.close)
    return started


def theirs(arguments, calls, **named):
    """What OpenCV answers."""
    pickle.dump((arguments, named, calls), process().stdin)
    process().stdin.flush()
    return pickle.load(process().stdout)


def mine(arguments, calls, **named):
    """What we answer."""
    hog, answers = ours.HOGDescriptor(*arguments, **named), []
    for name, given in calls:
        try:
            found = getattr(hog, name)
            answers.append(found(*given) if callable(found) else found)
        except Exception as error:
            answers.append(type(error).__name__)
    return answers


def same(got, want, what=""):
    """The same values and types."""
    assert type(got) is type(want), (what, got, want)
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want), (what, got, want)
        for g, w in zip(got, want):
            same(g, w, what)
    elif isinstance(want, np.ndarray):
        assert got.dtype == want.dtype and got.shape == want.shape, (what, got.dtype, got.shape, want.dtype, want.shape)
        np.testing.assert_array_equal(got, want, err_msg=str(what))
    else:
        assert got == want, what


def photo(color=False):
    data = pytest.importorskip("skimage.data")
    bgr = np.ascontiguousarray(data.astronaut()[:, :, ::-1])
    return bgr if color else bgr[:, :, 1].copy()


def bits():
    """Whether OpenCV's bits are ours: it must have AVX2."""
    with open("/proc/cpuinfo") as info:
        return "avx2" in info.read()


exact = pytest.mark.skipif(not os.path.exists("/proc/cpuinfo") or not bits(), reason="OpenCV without AVX2 rounds angles differently")
ATTRIBUTES = (
    "winSize", "blockSize", "blockStride", "cellSize", "nbins", "derivAperture", "winSigma", "histogramNormType", "L2HysThreshold", "gammaCorrection",
    "nlevels", "signedGradient",
)  # fmt: skip


@exact
def test_people():
    """Rectangles, weights, points and descriptors, with every argument."""
    found = 0
    for coefficients, window in zip(people(), ((64, 128), (48, 96))):
        constructor = (window, (16, 16), (8, 8), (8, 8), 9, 1, -1.0, 0, 0.2, True) if window != (64, 128) else ()
        for image in (photo()[:300, 100:400], photo(True)[:260, 120:330]):
            calls = [
                ("setSVMDetector", (coefficients,)), ("svmDetector", ()), ("checkDetectorSize", ()), ("getDescriptorSize", ()), ("getWinSigma", ()),
                ("compute", (image[:140, :100],)), ("compute", (image, (32, 32), (8, 8))), ("compute", (image, None, None, [(0, 0), (5, 9), (-50, 2), (9999, 0)])),
                ("compute", (image, (16, 16), (0, 0), np.array([[3, 4], [1, 2]]))),
                ("detect", (image, -2.5)), ("detect", (image, 100.0)), ("detect", (image, -2, (16, 8), (24, 16))), ("detect", (image, -3, (8, 8), (0, 0), [(0, 0), (7, 5), (-60, 0)])),
                ("detect", (image, float("nan"))), ("detect", (image, -float("inf"), (64, 64))),
                ("detectMultiScale", (image, -0.5)), ("detectMultiScale", (image, -1.2, (8, 8), (16, 16), 1.1, 0)), ("detectMultiScale", (image, -0.6, (4, 4), (8, 8), 1.3, 1.7)),
                ("detectMultiScale", (image, -0.5, (8, 8), (0, 0), 1)), ("detectMultiScale", (image, -0.5, (8, 8), (0, 0), 0.3, -1)), ("detectMultiScale", (image, 100.0)),
                ("detectMultiScale", (image, float("nan"))), ("detectMultiScale", (image, -0.5, (8, 8), (0, 0), float("nan"), 0)), ("detectMultiScale", (image, -0.5, (8, 8), (0, 0), float("inf"), 0)),
            ]  # fmt: skip
            for call, got, want in zip(calls, mine(constructor, calls), theirs(constructor, calls)):
                same(got, want, call[0])
                found += len(want[0]) if isinstance(want, tuple) and len(want) else 0
        calls = [("setSVMDetector", (coefficients,)), ("detectMultiScale", (photo()[:300, 100:400], -0.5, (8, 8), (16, 16), 1.1, 0.5, True))]
        (_, (boxes, weights)), (_, (expected, sums)) = mine(constructor, calls), theirs(constructor, calls)
        np.testing.assert_array_equal(boxes, expected)
        np.testing.assert_allclose(weights, sums, rtol=1e-12)
    assert found > 200


@exact
def test_configurations():
    """Constructors, attributes and descriptors at random."""
    rng = np.random.default_rng(40)
    for _ in range(40):
        cell = tuple(int(v) for v in rng.choice([4, 6, 8], 2))
        block = tuple(int(c * rng.integers(1, 4)) for c in cell)
        stride = tuple(int(v) for v in rng.choice([4, 8], 2))
        window = tuple(int(b + s * rng.integers(0, 4)) for b, s in zip(block, stride))
        bins = int(rng.integers(4, 20))
        arguments = (window, block, stride, cell, bins, int(rng.integers(0, 3)), float(rng.choice([-1, 0, 2.5])), 0, 0.2, bool(rng.integers(2)), int(rng.integers(0, 70)), bool(rng.integers(2)))
        arguments = arguments[: int(rng.integers(5, 13))]
        image = pixels((window[1] + 9, window[0] + 20) + ((3,) if rng.integers(2) else ()), "u1", int(rng.integers(1000)))
        attributes = [name for name in ATTRIBUTES if name != "nlevels" or len(arguments) < 11 or arguments[10] > 0]
        calls = [*((name, ()) for name in attributes), ("svmDetector", ()), ("getWinSigma", ()), ("getDescriptorSize", ()), ("compute", (image, (4, 4)))]
        same(mine(arguments, calls), theirs(arguments, calls), arguments)
    named = {"_winSize": (16, 16), "_blockSize": (8, 8), "_blockStride": (4, 4), "_cellSize": (4, 4), "_nbins": 6, "_signedGradient": True}
    calls = [(name, ()) for name in ATTRIBUTES]
    same(mine((), calls, **named), theirs((), calls, **named))
    same(mine((), calls), theirs((), calls))


@exact
def test_gradients():
    """Votes and bins of pixels, with every argument."""
    for image in (photo()[:60, :75], photo(True)[100:161, :1046], pixels((2, 3), "u1"), pixels((1, 1, 3), "u1")):
        for arguments in ((), ((16, 16), (8, 8), (8, 8), (8, 8), 12, 1, -1.0, 0, 0.2, False, 64, True)):
            shape = (*image.shape[:2], 2)
            calls = [
                ("computeGradient", (image, None, None)), ("computeGradient", (image, np.zeros(shape, "f4"), np.zeros(shape, "u1"))),
                ("computeGradient", (image, np.zeros(3), np.zeros(shape, "f4"), (3, 4), (5, 6))), ("computeGradient", (image, None, None, (0, 7))),
            ]  # fmt: skip
            for got, want in zip(mine(arguments, calls), theirs(arguments, calls)):
                same(got, want, arguments)
    grad, bins = np.zeros((5, 6, 2), "f4"), np.zeros((5, 6, 2), "u1")
    made = ours.HOGDescriptor().computeGradient(pixels((5, 6), "u1"), grad, bins)
    assert made[0] is grad and made[1] is bins and grad.any()
    votes, places = boxsum.detect.HOG().gradients(pixels((5, 6), "u1"), before=(1, 2), after=3, bgr=True, workers=1)
    assert votes.shape == places.shape == (10, 10, 2) and (places < 9).all()
    np.testing.assert_array_equal(votes, ours.HOGDescriptor().computeGradient(pixels((5, 6), "u1"), None, None, (1, 2), (3, 3))[0])
    for wrong in ({"before": -1}, {"after": 1 << 20}, {"workers": 0}):
        with pytest.raises(ValueError):
            boxsum.detect.HOG().gradients(pixels((5, 6), "u1"), **wrong)


def test_files(tmp_path):
    """Each reads what the other writes."""
    detector = people()[0]
    for name in ("one.xml", "two.yml", "3 three.json", "four.YAML", "five"):
        calls = [("setSVMDetector", (detector,)), ("save", (str(tmp_path / name),))]
        again = [("load", (str(tmp_path / name),)), ("svmDetector", ()), *((n, ()) for n in ATTRIBUTES)]
        mine((), calls)
        same(mine((), again), theirs((), again), name)
        before = (tmp_path / name).read_text().partition("winSize")[0]
        theirs((), calls)
        same(mine((), again), theirs((), again), name)
        assert before.split() == (tmp_path / name).read_text().partition("winSize")[0].split()  # the names are the same
        same(mine((str(tmp_path / name),), [("svmDetector", ())]), [detector])
    path = str(tmp_path / "named.yml")
    mine((), [("save", (path, "people"))])
    again = [("load", (path, "people")), ("load", (path, "others")), ("winSize", ())]
    same(mine((), again), theirs((), again))
    hog = ours.HOGDescriptor()
    hog.setSVMDetector(detector)
    assert hog.load(path) and len(hog.svmDetector) == 3781  # the file has none, and those that fit stay
    (tmp_path / "bad.xml").write_text("<opencv_storage><a")
    for call in (
        lambda: hog.load(str(tmp_path / "bad.xml")), lambda: hog.load(str(tmp_path / "none.xml")), lambda: hog.load("people"), lambda: ours.HOGDescriptor(str(tmp_path / "none.xml")),
        lambda: hog.save(path, "1 2"), lambda: hog.save(str(tmp_path / "none" / "a.xml")), lambda: hog.save(str(tmp_path / "a.yml.gz")),
    ):  # fmt: skip
        with pytest.raises(ours.error):
            call()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["3 three.json", "bad.xml", "five", "four.YAML", "named.yml", "one.xml", "two.yml"]  # nothing is left over


def absurd():
    """Calls that are errors, also those that end OpenCV's process."""
    image, hog = pixels((140, 90), "u1"), ours.HOGDescriptor()
    hog.setSVMDetector(np.ones(3780))
    size = ((64, 128), (16, 16), (8, 8), (8, 8), 9)
    for i, values in enumerate((
        ((65, 128), (8, 8), (0, 128), (-64, 128), (1 << 20, 128), (64,), 64, "64", None), ((0, 16), (20, 16), (128, 16), (-16, 16)), ((0, 8), (-8, 8), (7, 8)),
        ((0, 8), (7, 8), (-8, 8), (32, 8)), (0, -1, 257, 2.5, None, "9"),
    )):  # fmt: skip
        for value in values:
            yield lambda i=i, value=value: ours.HOGDescriptor(*size[:i], value, *size[i + 1 :])
    for more in ((1, float("nan")), (1, float("inf")), (1, -1.0, 1), (1, -1.0, 0, 0), (1, -1.0, 0, -0.2), (1, -1.0, 0, float("nan")), (1, -1.0, 0, 0.2, True, 1 << 20)):
        yield lambda more=more: ours.HOGDescriptor(*size, *more)
    for wrong in (None, np.zeros((0, 0), np.uint8), image.astype("f4"), image.astype("u2"), image.astype(bool), np.dstack([image] * 2), np.dstack([image] * 4), image[0], "photo.png"):
        for method in ("compute", "detect", "detectMultiScale"):
            yield lambda wrong=wrong, method=method: getattr(hog, method)(wrong)
        yield lambda wrong=wrong: hog.computeGradient(wrong, None, None)
    for more in ((image, 5.5j, None), (image, None, "u1"), (image, None, None, 8), (image, None, None, (1 << 20, 0)), (image, None, None, None, (8.5, 8))):
        yield lambda more=more: hog.computeGradient(*more)
    for stride in ((0, 8), (8, 0), (-8, -8), (1 << 30, 8), 8, (8,), (8, 8, 8), (8.0, 8.0), "ab"):
        yield lambda stride=stride: hog.compute(image, stride)
        yield lambda stride=stride: hog.detect(image, 0, stride)
        yield lambda stride=stride: hog.detectMultiScale(image, 0, stride)
    for padding in ((1 << 20, 0), 8, (8.5, 8)):
        yield lambda padding=padding: hog.compute(image, (8, 8), padding)
    for points in ([1, 2], [(1, 2, 3)], [(1.5, 2)]):
        yield lambda points=points: hog.compute(image, (8, 8), (0, 0), points)
    for wrong in (np.zeros(3779), np.zeros(3782), np.zeros(10), np.full(3780, np.nan), np.full(3780, 1e300), np.array(["a"]), 5.0, np.zeros((2, 1890))):
        yield lambda wrong=wrong: hog.setSVMDetector(wrong)
    for more in (("0",), (None, None, None, "1"), (0, None, None, 1.05, float("nan")), (0, None, None, 1.05, float("inf"))):
        yield lambda more=more: hog.detectMultiScale(image, *more)


def test_absurd_arguments():
    count = 0
    trained = ours.HOGDescriptor()
    trained.setSVMDetector(np.ones(3780))
    for call in absurd():
        with pytest.raises((ours.error, TypeError)) as raised:
            call()
        assert str(raised.value) and "internal" not in str(raised.value)
        count += 1
    assert count > 100
    for small in (pixels((20, 20), "u1"), pixels((1, 1), "u1"), pixels((127, 400, 3), "u1")):  # OpenCV reads beyond these, or ends the process
        assert trained.compute(small).shape == (0,) and trained.detect(small) == ((), ()) and trained.detectMultiScale(small) == ((), ())
        assert trained.compute(small, (8, 8), (60, 60)).size == 3780 * len(boxsum.detect.HOG().windows(small.shape, padding=60))
    assert ours.HOGDescriptor().detect(pixels((140, 90), "u1")) == ((), ())  # without coefficients, as in OpenCV
    with pytest.raises(TypeError):
        ours.HOGDescriptor((64, 128), (16, 16))


def test_coefficients_of_opencv(monkeypatch):
    """OpenCV's coefficients are its own, where it is installed."""
    cv2 = pytest.importorskip("cv2")
    if hasattr(cv2, "HOGDescriptor"):
        for name, function, expected in zip(("people", "daimler"), (ours.HOGDescriptor_getDefaultPeopleDetector, ours.HOGDescriptor.getDaimlerPeopleDetector), people()):
            same(function(), expected)
            same(boxsum.detect.HOG.load(name).coefficients, expected)
        assert boxsum.detect.HOG.load("daimler").window == (48, 96)
        image = photo()[:200, :200]
        umat = ours.HOGDescriptor().compute(ours.UMat(image))
        same(umat, ours.HOGDescriptor().compute(image))
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(FileNotFoundError, match="'people' is not a file.*below 5"):
        boxsum.detect.HOG.load("people")
    with pytest.raises(Exception, match="below 5"):
        ours.HOGDescriptor.getDefaultPeopleDetector()


def test_detection_on_a_device():
    if not any(d["device"].startswith("opencl") for d in boxsum.devices()):
        pytest.skip("no OpenCL device: install PoCL, Debian's pocl-opencl-icd")
    hog = boxsum.detect.HOG(np.random.default_rng(8).normal(0, 0.1, 1189), window=(32, 96))
    image = pixels((150, 130, 3), "u1")
    for photo in (image, image[:, :, 1], image[:, 5:90]):
        least = np.median(hog.scores(photo))
        for named in ({"neighbors": 0}, {"neighbors": 0, "step": 4, "padding": 16}, {"neighbors": 1, "bgr": True}):
            want = hog.detect(photo, **named, threshold=least, device="cpu")
            assert len(want.boxes)
            for one, other in zip(hog.detect(photo, **named, threshold=least, device="opencl"), want):
                np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="unknown device"):
        hog.detect(image, device="abacus")
    with pytest.raises(ValueError, match="windows pass"):
        hog.detect(image, threshold=-1e9, limit=1, device="opencl")


def test_hog(tmp_path):
    """The package's own names: they agree with each other and with the drop-ins."""
    HOG = boxsum.detect.HOG
    image = pixels((150, 120, 3), "u1")
    detector = np.random.default_rng(1).normal(0, 0.1, 3781)
    hog = HOG(detector)
    assert hog.size == 3780 and hog.window == (64, 128) and "64x128 pixels, 3780 numbers" in repr(hog) and "without" in repr(HOG())
    assert not hog.coefficients.flags.writeable and (hog.coefficients == detector.astype("f4")).all()
    rows, points = hog.compute(image), hog.windows(image.shape)
    assert rows.shape == (len(points), 3780) and rows.dtype == np.float32 and points.tolist()[:2] == [[0, 0], [8, 0]]
    same(hog.compute(image, at=points), rows)
    same(hog.compute(image[:, :, ::-1], bgr=True), rows)  # which is copied first
    same(hog.compute(image, workers=1, out=np.empty_like(rows)), rows)
    scores = hog.scores(image)
    np.testing.assert_allclose(scores, rows.astype("f8") @ detector[:-1] + detector[-1], atol=1e-5)
    assert np.isneginf(hog.scores(image, at=[[500, 500]])).all() and hog.compute(image, at=np.zeros((0, 2), int)).shape == (0, 3780)
    least = np.sort(scores)[len(scores) // 2]
    found = hog.detect(image, threshold=least, scale=1, neighbors=0)
    same(found.boxes[:, :2].copy(), points[scores >= least])
    same(found.scores, scores[scores >= least])
    assert (found.neighbors == 1).all() and not found.mirrored.any() and not found.angles.any() and not found.stages.any()
    assert len(hog.detect(image, threshold=least, scale=1, neighbors=0, ignore=[[0, 0, 200, 200]]).boxes) == 0
    assert len(hog.detect(image, threshold=least, neighbors=0, min_size=(65, 65)).boxes) <= len(hog.detect(image, threshold=least, neighbors=0, max_size=0).boxes)
    for density in (0, 0.1):
        assert hog.detect(image, threshold=-10, mean_shift=True, density=density, padding=8).boxes.shape[1] == 4
    for name in ("a.xml", "b.yml", "c.json"):
        hog.save(tmp_path / name)
        again = HOG.load(tmp_path / name)
        assert (again.coefficients == hog.coefficients).all() and again.settings() == hog.settings()
    copy = pickle.loads(pickle.dumps(HOG(window=32, signed=True, linear=True, sigma=3, clip=0.3, levels=7, bins=12)))
    assert copy.settings() == {"window": (32, 32), "block": (16, 16), "stride": (8, 8), "cell": (8, 8), "bins": 12, "signed": True, "linear": True, "sigma": 3.0, "clip": 0.3, "levels": 7}
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(hog.scores(image))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers:
        same(answer, scores)
    for kind, match, call in (
        (TypeError, "image must have type uint8, got float64", lambda: hog.compute(image / 255)), (ValueError, "image must have shape", lambda: hog.compute(image[0, 0])),
        (ValueError, "channels", lambda: hog.compute(image[:, :, :2])), (ValueError, "coefficients", lambda: HOG().detect(image)), (ValueError, "coefficients", lambda: HOG().scores(image)),
        (ValueError, "3782", lambda: HOG(np.zeros(3782))), (ValueError, "list of numbers", lambda: HOG(["a"])), (ValueError, "finite", lambda: HOG(sigma=np.inf)), (ValueError, "clip", lambda: HOG(clip=0)),
        (ValueError, "bins", lambda: HOG(bins=0)), (ValueError, "window", lambda: HOG(window=0)), (TypeError, "window", lambda: HOG(window=2.5)), (ValueError, "block stride", lambda: HOG(window=65)),
        (ValueError, "step", lambda: hog.compute(image, step=0)), (ValueError, "padding", lambda: hog.compute(image, padding=-1)), (ValueError, "padding", lambda: hog.compute(image, padding=1 << 20)),
        (ValueError, "scale", lambda: hog.detect(image, scale=0.5)), (ValueError, "finite", lambda: hog.detect(image, threshold=np.nan)), (ValueError, "windows pass", lambda: hog.detect(image, threshold=-1e9, limit=1)),
        (ValueError, "out must be", lambda: hog.compute(image, out=rows[1:])), (ValueError, "read-only|writeable", lambda: hog.scores(image, out=frozen(scores))),
        (ValueError, "extension", lambda: hog.save(tmp_path / "a.txt")), (ValueError, "name", lambda: hog.save(tmp_path / "a.xml", "a b")), (FileNotFoundError, "none", lambda: HOG.load(tmp_path / "none.xml")),
        (ValueError, 'named "b"', lambda: HOG.load(tmp_path / "a.xml", "b")), (FileNotFoundError, "No such file", lambda: hog.save(tmp_path / "none" / "a.xml")), (ValueError, "shape", lambda: hog.windows((5,))),
        (ValueError, "workers", lambda: hog.detect(image, workers=0)), (ValueError, "numbers along", lambda: hog.compute(image, at=[1, 2, 3])),
    ):  # fmt: skip
        with pytest.raises(kind, match=match):
            call()


def frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("norm", ["L1", "L1-sqrt", "L2", "L2-Hys"])
def test_skimage(norm):
    """Beside scikit-image's hog, for images and arguments at random."""
    feature = pytest.importorskip("skimage.feature")
    from boxsum.compat import skimage as drop_ins

    rng = np.random.default_rng(len(norm))
    for _ in range(40):
        cell, block = tuple(int(v) for v in rng.integers(2, 12, 2)), tuple(int(v) for v in rng.integers(1, 4, 2))
        shape = tuple(int(c * b + rng.integers(0, 30)) for c, b in zip(cell, block))
        axis = rng.choice([None, 0, 1, 2, -1])
        if axis is not None:
            shape = (*shape[: axis % 3], int(rng.integers(1, 5)), *shape[axis % 3 :])
        image = pixels(shape, rng.choice(["u1", "u2", "i2", "f4", "f8"]), int(rng.integers(1000)))
        if image.dtype == np.uint8 and rng.integers(2):
            image = image > 100
        named = {
            "orientations": int(rng.integers(1, 20)), "pixels_per_cell": cell, "cells_per_block": block, "block_norm": norm, "visualize": True,
            "transform_sqrt": bool(image.dtype.kind in "ub" and rng.integers(2)), "feature_vector": bool(rng.integers(2)), "channel_axis": axis,
        }  # fmt: skip
        for got, want in zip(drop_ins.hog(image, **named), feature.hog(image, **named)):
            assert got.shape == want.shape and got.dtype == want.dtype, named
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6 * max(1e-30, float(np.abs(want).max())), err_msg=str(named))
    smooth = photo(True).astype("f4")[:200, :301]
    for image in (smooth, smooth.astype("f2") / 255, np.where(smooth > 250, np.nan, smooth)):
        named = {"block_norm": norm, "channel_axis": 2, "visualize": True}
        for got, want in zip(drop_ins.hog(image, **named), feature.hog(image, **named)):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
        named = {"block_norm": norm, "channel_axis": 2, "orientations": 8}
        np.testing.assert_allclose(drop_ins.hog(image, **named), feature.hog(image, **named), rtol=1e-5, atol=1e-6)
    assert drop_ins.hog(np.zeros((24, 24)), block_norm=norm).sum() == 0
    small = np.zeros((23, 40))
    for call in (
        lambda: drop_ins.hog(small), lambda: drop_ins.hog(smooth), lambda: drop_ins.hog(smooth[:, :, 0], block_norm="L3"), lambda: drop_ins.hog(smooth[:, :, 0], 0),
        lambda: drop_ins.hog(smooth[:, :, 0], pixels_per_cell=(0, 8)), lambda: drop_ins.hog(smooth[:, :, 0], cells_per_block=(1, -1)), lambda: drop_ins.hog(smooth[:, :, 0] + 1j),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        drop_ins.hog(smooth[:, :, 0], 8.5)
