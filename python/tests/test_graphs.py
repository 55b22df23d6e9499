"""Calls on arrays of a CUDA device that become part of a graph, and those that are made again and again.

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


TORCH = """
import sys, types

torch = types.ModuleType("torch")
sys.modules["torch"] = torch

class Tensor:
    is_cuda, requires_grad, device, ndim = True, False, types.SimpleNamespace(index=0), 2

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, torch.types[array.dtype.name]

    def data_ptr(self):
        return self.array.ctypes.data

    def element_size(self):
        return self.array.itemsize

    def stride(self):
        return tuple(s // self.array.itemsize for s in self.array.strides)

    def get_device(self):
        return 0

Tensor.__module__ = "torch"
torch.Tensor = Tensor
torch.dtype = type("dtype", (), {"__init__": lambda self, name: setattr(self, "name", name), "__str__": lambda self: f"torch.{self.name}"})
torch.types = {name: torch.dtype(name) for name in ("uint8", "int32", "int64", "float32", "float64")}
torch.stream = 0
torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda index: torch.stream)
rules.rules_image.restype = rules.rules_table.restype = ctypes.c_uint64

def check(image, out):
    before = rules.rules_launches()
    assert boxsum.integral(image, out=out) is out
    assert rules.rules_launches() == before + 1
    assert (rules.rules_image(), rules.rules_table()) == (image.data_ptr(), out.data_ptr())
    kept()
"""


def test_calls_again(driver):
    """Calls of a kind that there was before take the short way, and all others the long one."""
    succeeds(driver, TORCH + textwrap.dedent("""
        from boxsum import _foreign
        plans = _foreign._torch_cuda._plans
        pixels = [np.zeros((40, 50), "u1") for _ in range(3)]
        tables = [np.zeros((41, 51), "i4") for _ in range(3)]
        for torch.stream in (0, 0x7000, 0):
            for p, t in zip(pixels, tables):
                check(Tensor(p), Tensor(t))
        assert len(plans) == 1
        check(Tensor(pixels[0][:, 1:]), Tensor(np.zeros((41, 50), "i4")))
        check(Tensor(pixels[0][:, :-1]), Tensor(tables[0][:, :-1]))  # other strides
        check(Tensor(pixels[0]), Tensor(np.zeros((41, 51), "i8")))
        assert len(plans) == 4
        for bad, error in [(np.zeros((40, 51), "i4"), ValueError), (np.zeros((41, 51), "f8").T.copy().T, ValueError), (pixels[0], (TypeError, ValueError))]:
            for _ in range(2):
                try:
                    boxsum.integral(Tensor(pixels[0]), out=Tensor(bad))
                except error:
                    pass
                else:
                    raise AssertionError(bad.shape)
        room = np.zeros(41 * 51 * 4 + 40 * 50, "u1")
        over = room[: 41 * 51 * 4].view("i4").reshape(41, 51)
        for _ in range(2):  # a table over its image
            try:
                boxsum.integral(Tensor(room[100:2100].reshape(40, 50)), out=Tensor(over))
            except ValueError as error:
                assert "shares memory" in str(error)
            else:
                raise AssertionError("overlap")
        for width in range(1, 400):  # more kinds than are kept
            check(Tensor(np.zeros((3, width), "u1")), Tensor(np.zeros((4, width + 1), "i4")))
            check(Tensor(pixels[0]), Tensor(tables[0]))
        assert len(plans) <= 256
    """))


def test_more_plans_than_are_kept(driver):
    """Threads whose calls are of more kinds than are kept do not take each other's plans away."""
    succeeds(driver, TORCH + textwrap.dedent("""
        import threading
        from boxsum import _foreign
        failed = []

        def work(first):
            try:
                for i in range(150):
                    image, out = Tensor(np.zeros((3 + first, 4 + i), "u1")), Tensor(np.zeros((4 + first, 5 + i), "i4"))
                    for _ in range(3):
                        boxsum.integral(image, out=out)
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        assert not failed, failed[0]
        assert 0 < len(_foreign._torch_cuda._plans) <= 256
        assert rules.rules_launches() == 6 * 150 * 3
    """))
