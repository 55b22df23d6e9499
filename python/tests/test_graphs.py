"""Calls that become part of a CUDA graph.

The driver here is cuda_rules.c: it has no device and computes nothing, but keeps the rules of captures, and has every
launch find what its kernel relies on, also when a graph runs again. What the tables are then, test_cuda.py has on a
device.
"""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux") or not shutil.which("cc"), reason="needs Linux and a C compiler")

PREPARE = """
import ctypes
import numpy as np
import boxsum

rules = ctypes.CDLL("libcuda.so.1")
rules.rules_reason.restype = ctypes.c_char_p
rules.rules_begin.argtypes = [ctypes.c_size_t]

class Array:
    def __init__(self, shape, dtype, stream=0x7000):
        self.memory = np.zeros(shape, dtype)
        self.__cuda_array_interface__ = {**self.memory.__array_interface__, "stream": stream}

def kept():
    assert rules.rules_violations() == 0, rules.rules_reason()
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    folder = tmp_path_factory.mktemp("driver")
    source = Path(__file__).with_name("cuda_rules.c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(folder / "libcuda.so.1"), str(source)], check=True)
    return folder


def succeeds(driver, code):
    path = os.pathsep.join(p for p in (str(driver), os.environ.get("LD_LIBRARY_PATH", "")) if p)
    code = PREPARE + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, LD_LIBRARY_PATH=path), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("warm", [True, False])
def test_replay(driver, warm):
    """Launches of a graph find their workspace as the first ones did, whatever ran in between."""
    succeeds(driver, f"""
        image, table = Array((500, 700), "u1"), Array((501, 701), "u4")
        floats, sums = Array((90, 80), "f4"), Array((91, 81), "f4")
        if {warm}:
            for _ in range(3):
                boxsum.integral(image, out=table)
                boxsum.integral(floats, out=sums)
        rules.rules_begin(0x7000)
        for _ in range(2):
            boxsum.integral(image, out=table)
            boxsum.integral(floats, out=sums)
        rules.rules_end()
        kept()
        before = rules.rules_launches()
        assert before == (6 if {warm} else 0)  # nothing has run yet
        for i in range(5):
            rules.rules_replay()
            kept()
            boxsum.integral(image, out=table)
            boxsum.integral(floats, out=sums)
            kept()
        assert rules.rules_launches() == before + 5 * 6
    """)


def test_every_kind(driver):
    """Nothing that a capture forbids is called for tables of any kind, once kernels are loaded or not."""
    succeeds(driver, """
        image, tables = Array((300, 400), "u1"), [Array((301, 401), t) for t in ("u4", "u8", "u4")]
        solid, both = Array((20, 30, 40), "u1"), [Array((21, 31, 41), t) for t in ("u4", "u8")]
        for again in range(2):
            rules.rules_begin(0x7000)
            boxsum.integral(image, squares=True, tilted=True, out=tables)
            boxsum.volume(solid, squares=True, out=both)
            rules.rules_end()
            kept()
            rules.rules_replay()
            kept()
            boxsum.integral(image, squares=True, tilted=True, out=tables)
            boxsum.volume(solid, squares=True, out=both)
            kept()
    """)


def test_other_streams(driver):
    """A capture is that of one stream: calls on others go on."""
    succeeds(driver, """
        image, table = Array((500, 700), "u1"), Array((501, 701), "u4")
        other, second = Array((500, 700), "u1", 0x8000), Array((501, 701), "u4", 0x8000)
        boxsum.integral(other, out=second)
        rules.rules_begin(0x7000)
        boxsum.integral(image, out=table)
        boxsum.integral(other, out=second)
        rules.rules_end()
        kept()
        assert rules.rules_launches() == 2
        rules.rules_replay()
        boxsum.integral(other, out=second)
        boxsum.integral(image, out=table)
        kept()
    """)


def test_memory_for_a_table(driver):
    """There is none in a capture, and the error says what to do."""
    succeeds(driver, """
        image, table = Array((500, 700), "u1"), Array((501, 701), "u4")
        rules.rules_begin(0x7000)
        try:
            boxsum.integral(image)
        except RuntimeError as error:
            assert "once before the capture" in str(error), error
        else:
            raise AssertionError("took memory")
    """)
