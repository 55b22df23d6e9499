#!/bin/sh
# Makes .venv/doxa, a virtual environment with doxapy, the oracle of thresholds. It has
# wheels for Python 3.12 and newer.
set -eu
cd "$(dirname "$0")/.."
doxapy=0.9.9
has() { "$1" -c 'import importlib.metadata as m, sys; sys.exit(m.version("doxapy") != "'$doxapy'")' 2>/dev/null; }
if has .venv/doxa/bin/python; then
	exit 0
fi
for python in python3 python3.14 python3.13 python3.12 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9]*/bin/python; do
	if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
		"$python" -m venv .venv/doxa
		.venv/doxa/bin/python -m pip install --quiet --disable-pip-version-check doxapy==$doxapy numpy
		echo "Doxa $doxapy in .venv/doxa"
		exit 0
	fi
done
echo "no Doxa: it takes Python 3.12 or newer with venv" >&2
exit 1
