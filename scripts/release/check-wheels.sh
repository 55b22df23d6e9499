# Part of check.sh: installs the wheels and the source distribution into empty environments.
# shellcheck shell=sh disable=SC2154

step "wheels"
if [ -e .venv/release/bin/auditwheel ]; then
	for wheel in "$out"/*linux*.whl; do
		[ ! -e "$wheel" ] || .venv/release/bin/python -m auditwheel show "$wheel" | grep -o '"[a-z]*linux_[^"]*"' | head -1
	done
fi
cat >"$scratch/use.py" <<END
import sys, platform
sys.path[:0] = sys.argv[1:]
import boxsum, numpy as np
a = np.arange(12, dtype=np.uint8).reshape(3, 4)
assert boxsum.__version__.startswith("${number%%-*}"), boxsum.__version__
assert boxsum.box_sum(boxsum.integral(a), [1, 1, 3, 2]) == 11
assert boxsum.blur(a, 1).shape == a.shape
print("works: Python %d.%d" % sys.version_info[:2], "on", platform.system(), platform.machine())
END
for wheel in "$out"/*manylinux*_"$(uname -m)".whl; do
	[ -e "$wheel" ] || continue
	tried=
	for python in python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python; do
		"$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || continue
		version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
		[ ! -e "$scratch/venv$version" ] || continue
		"$python" -m venv "$scratch/venv$version"
		"$scratch/venv$version/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
		(cd "$scratch" && "venv$version/bin/python" use.py)
		tried=1
	done
	[ -n "$tried" ] || left_out "$(basename "$wheel"): needs Python 3.9 or newer with venv"
done

# Build the sources without anything else of the project, with Go and a C compiler.
step "sources of the Python package"
for source in "$out"/boxsum-[0-9]*.tar.gz; do
	[ -e "$source" ] || continue
	for python in python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python; do
		"$python" -c 'import os, sys, sysconfig, venv, ensurepip; sys.exit(sys.version_info < (3, 9) or not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' 2>/dev/null && break
		python=
	done
	if [ -n "$python" ] && command -v go >/dev/null && command -v "$(go env CC)" >/dev/null; then
		"$python" -m venv "$scratch/source"
		(cd "$scratch" && source/bin/python -m pip install --quiet --disable-pip-version-check "$source" && source/bin/python use.py)
	else
		left_out "$(basename "$source"): needs Go, a C compiler and Python with venv and its headers"
	fi
done
