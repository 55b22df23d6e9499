#!/bin/sh
# Makes .venv/store, a virtual environment with zarr-python and TensorStore, which read what
# package store writes, and write what it reads, and rasterio, which has GDAL. They take Python 3.12 or newer.
set -eu
cd "$(dirname "$0")/.."
zarr=3.4.2
tensorstore=0.1.86
rasterio=1.5.2
has() { "$1" -c 'import importlib.metadata as m, sys; sys.exit([m.version(p) for p in ("zarr", "tensorstore", "rasterio")] != ["'$zarr'", "'$tensorstore'", "'$rasterio'"])' 2>/dev/null; }
if has .venv/store/bin/python; then
	exit 0
fi
for python in python3 python3.14 python3.13 python3.12 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9]*/bin/python; do
	if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
		"$python" -m venv .venv/store
		.venv/store/bin/python -m pip install --quiet --disable-pip-version-check zarr==$zarr tensorstore==$tensorstore rasterio==$rasterio numpy
		echo "zarr-python $zarr and TensorStore $tensorstore in .venv/store"
		exit 0
	fi
done
echo "no zarr-python: it takes Python 3.12 or newer with venv" >&2
exit 1
