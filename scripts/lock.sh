#!/bin/sh
# Writes scripts/requirements.txt: the versions to which scripts/requirements.in currently resolves.
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.12}" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --no-compile --disable-pip-version-check -r requirements.in
{
	echo "# Written by scripts/lock.sh from requirements.in."
	"$folder/bin/python" -m pip freeze --all --exclude pip
} >requirements.txt
