"""Every public function says what it takes, returns and raises, and has examples, which pytest runs as doctests."""

import importlib
import inspect
import re

import pytest

MODULES = ["boxsum", "boxsum.detect", "boxsum.compat.cv2", "boxsum.compat.cv2.ximgproc", "boxsum.compat.scipy", "boxsum.compat.skimage", "boxsum.jax"]  # test_torch.py tests boxsum.torch
NEVER_RAISES = ["devices"]


def section(text, title):
    """The lines of a section of a docstring in numpydoc form."""
    found = re.search(rf"^{title}\n-{{{len(title)}}}\n(.*?)(?=^[A-Z][A-Za-z ]+\n-+$|\Z)", text, re.M | re.S)
    return None if found is None else found[1]


@pytest.mark.parametrize("name", MODULES)
def test_sections(name):
    if name == "boxsum.jax":
        pytest.importorskip("jax")
    check_sections(name)


def check_sections(name):
    """Checks the docstrings of a module."""
    module = importlib.import_module(name)
    for public in module.__all__:
        thing = getattr(module, public)
        members = [(public, thing)]
        if inspect.isclass(thing):
            members = [(f"{public}.{n}", f) for n, f in vars(thing).items() if not n.startswith("_")]
        for title, function in members:
            if not inspect.isfunction(function):
                continue
            text = inspect.getdoc(function)
            assert text and text[0].isupper() and text.partition("\n")[0].endswith("."), f"{name}.{title}"
            parameters = [p for p in inspect.signature(function).parameters if p != "self"]
            if inspect.isclass(thing) and section(text, "Parameters") is None:
                continue  # what nn.Module and ndarray document
            documented = re.findall(r"^(\w[^:\n]*?)(?: : .*)?$", section(text, "Parameters") or "", re.M)
            assert sorted(", ".join(documented).split(", ")) == sorted(parameters or [""]), f"{name}.{title}: {documented} for {parameters}"
            assert section(text, "Returns"), f"{name}.{title}"
            if inspect.isfunction(thing):
                assert section(text, "Raises") or public in NEVER_RAISES, f"{name}.{title}"
                assert section(text, "Examples"), f"{name}.{title}"
