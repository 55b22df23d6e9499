"""Runs scikit-image's own tests with the drop-in functions of boxsum in place of its own.

    python scripts/dropin.py FOLDER

downloads the source of the installed version from PyPI, copies its tests of integral images, local thresholds, templates
and what uses them into the folder, and runs them there, with the doctests of the same modules. Needs scikit-image,
boxsum and pytest. Exits with 77 if PyPI cannot be reached.
"""

import hashlib
import io
import re
import sys
import tarfile
from importlib import import_module
from pathlib import Path
from urllib.request import urlopen

import pytest
import skimage
from boxsum.compat import skimage as ours

TESTS = """
    feature/test_blob.py feature/test_cascade.py feature/test_censure.py feature/test_corner.py feature/test_haar.py
    feature/test_hog.py feature/test_template.py feature/test_texture.py filters/test_thresholding.py transform/test_integral.py
""".split()

MODULES = """
    feature.blob feature.censure feature.corner feature.haar feature.template feature.texture feature._cascade feature._hog feature
    filters.thresholding filters transform.integral transform
""".split()

#: Where each function is at home.
HOMES = {
    "integral_image": "transform.integral",
    "integrate": "transform.integral",
    "threshold_local": "filters.thresholding",
    "threshold_niblack": "filters.thresholding",
    "threshold_sauvola": "filters.thresholding",
    "match_template": "feature.template",
    "hog": "feature._hog",
}

LEFT_OUT = "try_all_threshold"  # takes matplotlib

FLAGS = "NORMALIZE_WHITESPACE ELLIPSIS"  # as scikit-image runs them


def source():
    """The source of scikit-image, checked against the sum in the index."""
    name = f"scikit_image-{skimage.__version__}.tar.gz"
    try:
        index = urlopen("https://pypi.org/simple/scikit-image/", timeout=60).read().decode()
        found = re.search(rf'href="([^"#]*/{re.escape(name)})#sha256=([0-9a-f]+)"', index)
        if not found:
            sys.exit(f"PyPI has no {name}")
        content = urlopen(found[1], timeout=60).read()
    except OSError as error:
        print(f"PyPI: {error}")
        sys.exit(77)
    if hashlib.sha256(content).hexdigest() != found[2]:
        sys.exit(f"{name} is not what the index says")
    return tarfile.open(fileobj=io.BytesIO(content))


def extract(folder):
    with source() as archive:
        root = archive.getnames()[0].partition("/")[0]
        for test in TESTS:
            path = folder / test
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.extractfile(f"{root}/tests/skimage/{test}").read())


calls = dict.fromkeys(HOMES, 0)


def patch():
    """Puts our functions wherever scikit-image has imported its own."""
    modules = [import_module(f"skimage.{name}") for name in MODULES]
    for name in calls:
        home = import_module(f"skimage.{HOMES[name]}")
        theirs, mine = getattr(home, name), getattr(ours, name)

        def counted(*arguments, mine=mine, name=name, **named):
            calls[name] += 1
            return mine(*arguments, **named)

        places = [m for m in modules if vars(m).get(name) is theirs or home.__name__.startswith(m.__name__)]
        for module in places:
            setattr(module, name, counted)
        print(f"{name} of boxsum in {', '.join(m.__name__ for m in places)}")


def main():
    folder = Path(sys.argv[1])
    extract(folder)
    patch()
    options = ["-q", "-k", f"not {LEFT_OUT}", "-p", "no:cacheprovider", "--rootdir", str(folder), "-o", f"doctest_optionflags={FLAGS}"]
    doctests = ["--doctest-modules", "--pyargs"] + [f"skimage.{name}" for name in MODULES if "_" not in name and "." in name]
    failed = pytest.main(options + [str(folder / test) for test in TESTS] + doctests)
    print(*(f"{count} calls of {name}" for name, count in calls.items()), sep=", ")
    sys.exit(failed or not all(calls.values()))


main()
