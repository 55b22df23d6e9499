"""Builds the Python package for other systems than this one, with the C compiler of the ziglang
wheel, and its source distribution. The same sources give the same bytes.

    python scripts/release/wheels.py v0.2.0 OUT [TARGET ...]      # all targets, and sdist

It takes Python 3.11 or newer with its headers, Go, and from PyPI ziglang, build and deflate.
"""

import base64
import gzip
import hashlib
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

import deflate

TOP = Path(__file__).resolve().parents[2]
PYTHON = TOP / "python"

# What Go and zig call each, the tags of its wheel, and how its files are named. glibc 2.17 is of
# 2012, and Go programs for Windows take Windows 10. There is none for musl: its loader refuses a library of
# Go ("initial-exec TLS", golang/go#54805), and Go's start-up takes arguments that musl does not hand over.
TARGETS = {
    "manylinux-x86_64": ("linux", "amd64", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64.manylinux2014_x86_64"),
    "manylinux-aarch64": ("linux", "arm64", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64.manylinux2014_aarch64"),
    "windows-amd64": ("windows", "amd64", "x86_64-windows-gnu", "win_amd64"),
}

# Python.h asks the compiler's machine for these; the limited API takes no others.
PYCONFIG = """
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define SIZEOF_TIME_T 8
#define SIZEOF_OFF_T 8
#define SIZEOF_PID_T 4
#define HAVE_STDINT_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_STDDEF_H 1
#define HAVE_LONG_LONG 1
#define HAVE_WCHAR_H 1
#define HAVE_PROTOTYPES 1
#define WITH_THREAD 1
#ifdef _WIN32
#define SIZEOF_LONG 4
#define SIZEOF_WCHAR_T 2
#define MS_WINDOWS
#define MS_WIN32
#define MS_WIN64
#define HAVE_DECLSPEC_DLL
#define Py_ENABLE_SHARED 1
#define PLATFORM "win32"
#else
#define SIZEOF_LONG 8
#define SIZEOF_WCHAR_T 4
#define HAVE_SSIZE_T 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_CLOCK_GETTIME 1
#endif
"""


def run(*command: object, **more: object) -> None:
    subprocess.run([str(part) for part in command], check=True, **more)


def headers(folder: Path) -> Path:
    """Python's headers with our own pyconfig.h."""
    target = folder / "include"
    if not target.exists():
        shutil.copytree(sysconfig.get_paths()["include"], target)
        (target / "pyconfig.h").write_text(PYCONFIG)
    return target


def import_library(folder: Path, zig: list[str]) -> Path:
    """A library that has Windows look for Python's functions in python3.dll."""
    names = set()
    for header in headers(folder).glob("*.h"):
        text = header.read_text(encoding="utf-8", errors="replace")
        for kind, name in re.findall(r"PyAPI_(FUNC|DATA)\([^)]*\)\s*(\w+)", text):
            names.add(name + (" DATA" if kind == "DATA" else ""))
        names.update(re.findall(r"\b_Py\w+_SizeT\b", text))  # which macros put in the place of others
    definition, library = folder / "python3.def", folder / "libpython3.a"
    definition.write_text("LIBRARY python3.dll\nEXPORTS\n" + "\n".join(sorted(names)) + "\n")
    run(*zig, "dlltool", "-d", definition, "-l", library, "-m", "i386:x86-64")
    return library


def build(target: str, version: str, commit_time: int, folder: Path, out: Path) -> Path:
    goos, goarch, triple, tag = TARGETS[target]
    zig = [sys.executable, "-m", "ziglang"]
    windows = goos == "windows"
    library, core = ("libboxsum.dll", "_core.pyd") if windows else ("libboxsum.so", "_core.abi3.so")
    work = folder / target
    work.mkdir()
    compiler = " ".join([*zig, "cc", "-target", triple])
    environment = dict(os.environ, CGO_ENABLED="1", GOOS=goos, GOARCH=goarch, CC=compiler, CGO_CFLAGS="-O2 -g0", GOFLAGS="-trimpath -buildvcs=false")
    run("go", "build", "-buildmode=c-shared", "-ldflags=-s -w -buildid= -extldflags=-s", "-o", work / library, "./python/clib", cwd=TOP, env=environment)
    sources = [f"core/{name}.c" for name in re.search(r'for name in \(([^)]*)\)', (PYTHON / "setup.py").read_text())[1].replace('"', "").replace(" ", "").split(",")]
    options = ["-shared", "-O2", "-g0", "-s", "-DPy_LIMITED_API=0x03090000", "-I", headers(folder), "-I", PYTHON / "clib", "-o", work / core]
    if not windows:
        options = ["-fPIC", *options]
    run(*zig, "cc", "-target", triple, *options, *sources, *([import_library(folder, zig)] if windows else []), cwd=PYTHON)
    files = {f"boxsum/{path.relative_to(PYTHON / 'src' / 'boxsum').as_posix()}": path.read_bytes()
             for path in (PYTHON / "src" / "boxsum").rglob("*") if path.suffix in (".py", ".typed", ".pyi") and "__pycache__" not in path.parts}
    files["boxsum/_version.py"] = f'__version__ = "{version}"\n'.encode()
    for name in (library, core):
        files[f"boxsum/{name}"] = (work / name).read_bytes() if windows else stripped((work / name).read_bytes())
    info = f"boxsum-{version}.dist-info"
    files[f"{info}/licenses/LICENSE"] = (TOP / "LICENSE").read_bytes()
    files[f"{info}/licenses/LICENSES.txt"] = subprocess.run(["scripts/release/licenses.sh", "./python/clib"], cwd=TOP, check=True, stdout=subprocess.PIPE).stdout
    files[f"{info}/METADATA"] = metadata(version).encode()
    tags = "".join(f"Tag: cp39-abi3-{one}\n" for one in tag.split("."))
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: boxsum\nRoot-Is-Purelib: false\n{tags}".encode()
    return wheel(out / f"boxsum-{version}-cp39-abi3-{tag}.whl", files, info, commit_time)


def metadata(version: str) -> str:
    project = tomllib.loads((PYTHON / "pyproject.toml").read_text())["project"]
    lines = ["Metadata-Version: 2.4", "Name: boxsum", f"Version: {version}", f"Summary: {project['description']}",
             f"Keywords: {','.join(project['keywords'])}", f"License-Expression: {project['license']}",
             "License-File: LICENSE", "License-File: LICENSES.txt", f"Requires-Python: {project['requires-python']}"]
    lines += [f"Classifier: {one}" for one in project["classifiers"]]
    lines += [f"Requires-Dist: {one}" for one in project["dependencies"]]
    for extra, needs in project.get("optional-dependencies", {}).items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {one}; extra == "{extra}"' for one in needs)]
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", (PYTHON / "README.md").read_text(encoding="utf-8")])


def stripped(file: bytes) -> bytes:
    """An ELF library without its symbol table, which zig's linker leaves in: the sections that no segment loads lie behind the others."""
    (start,), (count, names) = struct.unpack_from("<Q", file, 40), struct.unpack_from("<HH", file, 60)
    sections = [list(struct.unpack_from("<IIQQQQIIQQ", file, start + 64 * i)) for i in range(count)]
    kept = [i for i, s in enumerate(sections) if i in (0, names) or s[2] & 2]  # SHF_ALLOC
    end = max(s[4] + (0 if s[1] == 8 else s[5]) for i, s in enumerate(sections) if i in kept and i != names)  # 8 is without bytes
    if any(s[4] < end for i, s in enumerate(sections) if i not in kept) or any(sections[i][6] not in (*kept, 0) for i in kept):
        raise SystemExit("a library is not laid out as expected")
    text = file[sections[names][4]:][:sections[names][5]]
    sections[names][4] = end
    for i in kept:
        sections[i][6] = kept.index(sections[i][6])
        if sections[i][2] & 0x40:  # SHF_INFO_LINK: it names a section too
            sections[i][7] = kept.index(sections[i][7])
    at = (end + len(text) + 7) & -8
    out = bytearray((file[:end] + text).ljust(at, b"\0"))
    for i in kept:
        out += struct.pack("<IIQQQQIIQQ", *sections[i])
    struct.pack_into("<Q", out, 40, at)
    struct.pack_into("<HH", out, 60, len(kept), kept.index(names))
    return bytes(out)


class Compressor:
    """Deflate as small as libdeflate makes it: 2% smaller than zlib."""

    def __init__(self, *_: object) -> None:
        self.data = b""

    def compress(self, data: bytes) -> bytes:
        self.data += data
        return b""

    def flush(self) -> bytes:
        return bytes(deflate.deflate_compress(self.data, 12))


def wheel(path: Path, files: dict[str, bytes], info: str, commit_time: int) -> Path:
    """Writes a wheel whose bytes depend on the files alone."""
    stamp = tuple(__import__("time").gmtime(commit_time)[:6])
    record = []
    zipfile._get_compressor = Compressor
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        def put(name: str, data: bytes) -> None:
            entry = zipfile.ZipInfo(name, stamp)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o100644 << 16
            archive.writestr(entry, data)

        for name in sorted(files, key=lambda name: (name.startswith(info), name)):
            put(name, files[name])
            digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(files[name])}\n")
        put(f"{info}/RECORD", "".join([*record, f"{info}/RECORD,,\n"]).encode())
    return path


def sdist(version: str, commit_time: int, folder: Path, out: Path) -> Path:
    """The source distribution, with its files in order and their times set."""
    copy = folder / "clone"
    files = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
    for name in filter(None, files):
        if (TOP / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, copy / name)
    (copy / "python" / "src" / "boxsum" / "_version.py").write_text(f'__version__ = "{version}"\n')
    run(sys.executable, "-m", "build", "--sdist", "--outdir", folder, copy / "python", stdout=subprocess.DEVNULL)
    name = f"boxsum-{version}.tar.gz"
    path = out / name
    with tarfile.open(folder / name) as old, path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, commit_time) as packed, tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname, member.pax_headers = commit_time, 0, 0, "", "", {}
            member.mode = 0o755 if member.isdir() else 0o644
            data = old.extractfile(member) if member.isfile() else None
            new.addfile(member, io.BytesIO(data.read()) if data else None)
    return path


def main() -> None:
    version, out, *targets = sys.argv[1:]
    match = re.fullmatch(r"v(\d+\.\d+\.\d+)(?:-(rc|beta|alpha)\.?(\d+))?", version)
    if not match:
        raise SystemExit(f"{version} is not like v0.2.0 or v0.2.0-rc.1")
    number = match[1] + ({"rc": "rc", "beta": "b", "alpha": "a"}[match[2]] + match[3] if match[2] else "")
    commit_time = int(subprocess.run(["git", "show", "-s", "--format=%ct", "HEAD"], cwd=TOP, check=True, stdout=subprocess.PIPE).stdout)
    commit_time -= commit_time % 2  # zip files count in pairs of seconds
    Path(out).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for target in targets or [*TARGETS, "sdist"]:
            make = sdist if target == "sdist" else lambda *rest: build(target, *rest)  # noqa: B023
            path = make(number, commit_time, Path(folder), Path(out).resolve())
            print(f"{path.name}  {path.stat().st_size / 1e6:.1f} MB", flush=True)


main()
