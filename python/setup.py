"""Builds the Go library that the package calls, and puts it beside the modules.

The Go module is the folder above; a source distribution carries it in ``go``.
``BOXSUM_LIBRARY`` names a library that is already built.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
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
        "boxsum: the Go sources are not here: install from a clone of the repository (pip install ./python, "
        "with pip 21.3 or later, which builds in place), from a source distribution, or from a wheel"
    )


def go(*arguments: str) -> str:
    if not shutil.which("go"):
        raise SystemExit("boxsum: building needs Go 1.26 or later, from https://go.dev/dl, and a C compiler; a wheel needs neither")
    environment = dict(os.environ, CGO_ENABLED="1")
    run = subprocess.run(["go", *arguments], cwd=module(), env=environment, stdout=subprocess.PIPE, text=True)
    if run.returncode:
        raise SystemExit(f"boxsum: go {arguments[0]} failed, see above; cgo needs a C compiler such as gcc")
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


class WheelForAnyPython(bdist_wheel):
    """The library knows nothing of Python's own: one wheel is for all versions."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


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


class DistributionWithLibrary(Distribution):
    def has_ext_modules(self) -> bool:
        return True


setup(
    distclass=DistributionWithLibrary,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": WheelForAnyPython, "sdist": SourceWithModule},
)
