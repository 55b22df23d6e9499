"""The pages of docs/migrate give, beside a function of another library, one of boxsum that returns the same."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import boxsum

cv2 = pytest.importorskip("cv2")
skimage = pytest.importorskip("skimage")
ndimage = pytest.importorskip("scipy.ndimage")
PAGES = sorted((Path(__file__).resolve().parents[2] / "docs" / "migrate").glob("*.md"))
TEXT = "".join(page.read_text(encoding="utf-8") for page in PAGES)

# Theirs, ours as the page has it, and how far apart they may be.
ROWS = [
    ("cv2.integral(a)", "boxsum.integral(a)", 0),
    ("cv2.integral2(a)[1]", "boxsum.integral(a, squares=True)[1]", 0),
    ("cv2.integral3(a)[2]", "boxsum.integral(a, tilted=True)[1]", 0),
    ("cv2.blur(a, (k, k))", "boxsum.box_filter(a, k)", 0),
    ("cv2.blur(a, (k, k))", "boxsum.blur(a, k // 2)", 0),
    ("cv2.boxFilter(a, cv2.CV_32S, (k, k), normalize=False)", "boxsum.box_filter(a, k, mean=False)", 0),
    ("cv2.GaussianBlur(a, (0, 0), s)", "boxsum.blur(a, sigma=s)", 8),
    ("cv2.medianBlur(a, k)", 'boxsum.median(a, k, border="replicate")', 0),
    ("cv2.ximgproc.guidedFilter(g, a, radius, eps)", 'boxsum.guided(a, radius, eps, guide=g, border="reflect")', 1),
    ("cv2.adaptiveThreshold(a, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, k, c)", 'boxsum.binarize(a, "meanc", window=k, c=c)', 0),
    ("cv2.matchTemplate(a, t, cv2.TM_CCOEFF_NORMED)", 'boxsum.match(a, t, "zncc")', 1e-4),
    ("skimage.transform.integral_image(a)", "boxsum.integral(a)[1:, 1:]", 0),
    ("skimage.transform.integrate(ii, (r0, c0), (r1, c1))", "boxsum.box_sum(table, [c0, r0, c1 + 1, r1 + 1])", 0),
    ("skimage.filters.threshold_sauvola(a, w, k)", 'boxsum.threshold_map(a, "sauvola", window=w, k=k, r=127.5, border="reflect101")', 1e-3),
    ("skimage.filters.threshold_niblack(a, w, k)", 'boxsum.threshold_map(a, "niblack", window=w, k=-k, border="reflect101")', 1e-3),
    ("skimage.feature.match_template(a, t)", "boxsum.match(a, t)", 1e-4),
    ("skimage.measure.block_reduce(a, (k, k), np.mean)[:-1, :-1]", "boxsum.downsample(a, k)[:-1, :-1]", 0.5),
    ("a.cumsum(0, np.uint32).cumsum(1)", "boxsum.integral(a)[1:, 1:]", 0),
    ("ndimage.uniform_filter(a, k)", 'boxsum.box_filter(a, k, border="reflect")', 2),
    ("ndimage.uniform_filter(a.astype(float), k)", 'boxsum.box_filter(a, k, border="reflect")', 0.5),
    ("ndimage.gaussian_filter(a, s)", 'boxsum.blur(a, sigma=s, border="reflect")', 8),
    ("ndimage.median_filter(a, k)", 'boxsum.median(a, k, border="reflect")', 0),
]


@pytest.mark.skipif(not PAGES, reason="needs the documents: run it in a clone of the repository")
@pytest.mark.parametrize(("theirs", "ours", "apart"), ROWS, ids=[row[0] for row in ROWS])
def test_row(theirs, ours, apart):
    written = ours.removesuffix("[1]") if "squares" in ours else ours.removesuffix("[:-1, :-1]")
    assert f"`{written}`" in TEXT
    random = np.random.default_rng(3)
    a, g = random.integers(0, 256, (2, 61, 83), dtype=np.uint8)
    if "guidedFilter" in theirs:
        if not hasattr(cv2, "ximgproc"):
            pytest.skip("cv2 has no ximgproc: install opencv-contrib-python-headless")
        a, g = a.astype(np.float32), g.astype(np.float32)
    names = {
        "np": np, "cv2": cv2, "skimage": skimage, "ndimage": ndimage, "boxsum": boxsum, "a": a, "g": g, "t": a[10:20, 30:45].copy(), "k": 5, "s": 3, "c": 4, "w": 15, "radius": 4,
        "eps": 50.0, "r0": 3, "c0": 4, "r1": 20, "c1": 30,
    }  # fmt: skip
    if "threshold_" in theirs:
        names["k"] = 0.2
    names["ii"], names["table"] = a.astype(np.int64).cumsum(0).cumsum(1), boxsum.integral(a)
    want, got = (np.asarray(eval(code, names), np.float64) for code in (theirs, ours))
    assert np.abs(want.squeeze() - got.squeeze()).max() <= apart


# Those of MATLAB as Octave has them, and of the others what MathWorks' documentation says that they are.
MATLAB = [
    ("integralImage(a)", "boxsum.integral(image)", 0),
    ("integralImage(a, 'rotated')(:, 1:end-1)", "boxsum.integral(image, tilted=True)[1]", 0),
    ("imfilter(a, ones(h, w) / (h * w), 'replicate')", 'boxsum.box_filter(image, (w, h), border="replicate")', 0),
    ("imfilter(double(a), fspecial('gaussian', 2 * ceil(2 * s) + 1, s), 'replicate')", 'boxsum.blur(image, sigma=s, border="replicate")', 8),
    ("medfilt2(a, [k k])", 'boxsum.median(image, k, border="constant")', 0),
    ("stdfilt(double(a), ones(k))", 'boxsum.local_std(image, k, border="reflect") * k / np.sqrt(k * k - 1)', 1e-4),
    ("255 * (a > 255 * graythresh(a))", 'boxsum.binarize(image, "otsu")', 0),
    ("normxcorr2(t, a)(10:end-9, 15:end-14)", "boxsum.match(image, t)", 1e-6),
]


@pytest.mark.skipif(not PAGES, reason="needs the documents: run it in a clone of the repository")
def test_matlab(tmp_path):
    if not shutil.which("octave-cli") or subprocess.run(["octave-cli", "--eval", "pkg load image"], capture_output=True).returncode:
        pytest.skip("Octave is not installed: install Debian's octave and octave-image")
    image = np.random.default_rng(5).integers(0, 256, (61, 83), dtype=np.uint8)
    t, k, h, w, s = image[10:20, 30:45].copy(), 5, 5, 9, 3
    np.savetxt(tmp_path / "a.txt", image, "%d")
    code = "pkg load image; a = uint8(load('a.txt')); t = a(11:20, 31:45); k = 5; h = 5; w = 9; s = 3;"
    for i, (theirs, _, _) in enumerate(MATLAB):
        code += f"r = double({theirs}); save('-ascii', '-double', '{i}.txt', 'r');"
    subprocess.run(["octave-cli", "--eval", code], cwd=tmp_path, check=True, capture_output=True)
    names = {"np": np, "boxsum": boxsum, "image": image, "t": t, "k": k, "h": h, "w": w, "s": s}
    for i, (theirs, ours, apart) in enumerate(MATLAB):
        assert f"{ours}`" in TEXT, ours
        want, got = np.loadtxt(tmp_path / f"{i}.txt"), np.asarray(eval(ours, names), np.float64)
        assert want.shape == got.shape and np.abs(want - got).max() <= apart, theirs
