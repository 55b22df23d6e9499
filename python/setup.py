"""Builds the Go library and the extension module that calls it.

The Go module is the folder above; a source distribution carries it in ``go``.
``BOXSUM_LIBRARY`` names a library that is already built. The extension module is
built for Python's limited API: one wheel is for all versions from 3.9 on.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
PACKAGE = "github.com/boxsum/boxsum/python/clib"
LIBRARY = "libboxsum." + {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")


def module() -> Path:
    """The folder of the Go module."""
    for folder in (HERE / "go", HERE.parent):
        if (folder / "go.mod").exists() and (folder / "python" / "clib").is_dir():
            return folder
    raise SystemExit(
        "boxsum: the Go sources are missing: install from a clone of the repository (pip install ./python, "
        "with pip 21.3 or later, which builds in place), from a source distribution, or from a wheel"
    )


def go(*arguments: str) -> str:
    if not shutil.which("go"):
        raise SystemExit("boxsum: building needs Go 1.26 or later, from https://go.dev/dl, and a C compiler; a wheel needs neither")
    environment = dict(os.environ, CGO_ENABLED="1")
    run = subprocess.run(["go", *arguments], cwd=module(), env=environment, stdout=subprocess.PIPE, text=True)
    if run.returncode:
        raise SystemExit(f"boxsum: go {arguments[0]} failed (its output is above); building needs a C compiler such as gcc")
    return run.stdout


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        target = Path(self.build_lib) / "boxsum" / LIBRARY
        if self.editable_mode:
            target = HERE / "src" / "boxsum" / LIBRARY
        target.parent.mkdir(parents=True, exist_ok=True)
        built = os.environ.get("BOXSUM_LIBRARY")
        if built:
            shutil.copy(built, target)
            return
        go("build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", str(target.resolve()), PACKAGE)
        target.with_suffix(".h").unlink(missing_ok=True)


class BuildWithHeader(build_ext):
    def run(self) -> None:
        header = Path(sysconfig.get_paths()["include"], "Python.h")
        if not header.exists():
            raise SystemExit(
                f"boxsum: building needs Python's C header, but {header} does not exist: install python3-dev (Debian, Ubuntu) "
                "or python3-devel (Fedora); a wheel does not need it"
            )
        super().run()


class SourceWithModule(sdist):
    def make_release_tree(self, base_dir, files) -> None:
        super().make_release_tree(base_dir, files)
        top = module()
        wanted = {Path("go.mod"), Path("go.sum"), Path("LICENSE")}
        fields = ["GoFiles", "CgoFiles", "CFiles", "HFiles", "SFiles", "EmbedFiles"]
        listed = go("list", "-deps", f"-json=Dir,Module,{','.join(fields)},IgnoredGoFiles", PACKAGE)
        decoder, rest = json.JSONDecoder(), listed.strip()
        while rest:
            package, end = decoder.raw_decode(rest)
            rest = rest[end:].strip()
            if package.get("Module", {}).get("Main"):
                for field in [*fields, "IgnoredGoFiles"]:  # those of other systems too
                    wanted.update(Path(package["Dir"], name).relative_to(top) for name in package.get(field, []) if not name.endswith("_test.go"))
        for folder in {path.parent for path in wanted}:  # assembly of other processors
            wanted.update(path.relative_to(top) for path in (top / folder).glob("*.s"))
        for path in wanted:
            target = Path(base_dir, "go", path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(top / path, target)


LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")  # which a Python without a GIL does not have

setup(
    ext_modules=[
        Extension(
            "boxsum._core",
            sources=[f"core/{name}.c" for name in ("module", "call", "integral", "filters", "lease", "dlpack", "tensors", "xla")],
            depends=["core/core.h", "core/tensor.h"],
            include_dirs=[str(module() / "python" / "clib")],
            define_macros=[("Py_LIMITED_API", "0x03090000")] if LIMITED else [],
            py_limited_api=LIMITED,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp39"}} if LIMITED else {},
    cmdclass={"build_py": BuildWithLibrary, "build_ext": BuildWithHeader, "sdist": SourceWithModule},
)
