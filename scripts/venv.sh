#!/bin/sh
# Creates a virtual environment with pinned packages, unless it already exists with the same packages.
#
#	scripts/venv.sh FOLDER REQUIREMENTS PYTHON
#
# uv installs them in a tenth of pip's time.
set -eu
folder=$1 requirements=$2 python=$3
! cmp -s "$requirements" "$folder/requirements.txt" || exit 0
"$python" -m venv --clear "$folder"
"$folder/bin/python" -m pip install --quiet --no-compile --disable-pip-version-check uv==0.13.8
"$folder/bin/python" -m uv --quiet pip install --python "$folder/bin/python" --requirement "$requirements"
cp "$requirements" "$folder/requirements.txt"
