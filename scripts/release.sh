#!/bin/sh
# Builds a release into dist: VERSION=v0.2.0 scripts/release.sh. ONLY=linux/amd64 and
# WHEELS="manylinux-x86_64" build less, WHEELS=none no wheels.
set -eu
cd "$(dirname "$0")/.."
: "${VERSION:?such as VERSION=v0.2.0}"
out=${OUT:-dist}
rm -rf "$out"
go -C internal/release run . build -version "$VERSION" -o "$out" -only "${ONLY:-}"
if [ "${WHEELS:-}" != none ]; then
	python=${RELEASE_PYTHON:-.venv/release/bin/python}
	if ! "$python" -c 'import ziglang, build, deflate' 2>/dev/null; then
		for base in "${PYTHON:-python3}" python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[1-9]*/bin/python; do
			"$base" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break
		done
		scripts/header.sh "$base"
		"$base" -m venv .venv/release
		python=.venv/release/bin/python
		$python -m pip install --quiet --disable-pip-version-check ziglang==0.17.0 build==1.6.1 auditwheel==6.8.2 deflate==0.9.0 spdx-tools==0.8.5
	fi
	"$python" scripts/wheels.py "$VERSION" "$out" ${WHEELS:-}
fi
go -C internal/release run . sums "$out"
ls -l "$out"
