#!/bin/sh
# The documentation as a folder for any web server, or none, and the explorer in its folder explore, which needs a
# web server. Every link is checked.
#
#	scripts/site.sh [FOLDER]
set -eu
cd "$(dirname "$0")/.."
folder=${1:-site}
venv=.venv/site
if ! cmp -s docs/requirements.txt $venv/requirements.txt; then
	python3 -m venv $venv
	$venv/bin/pip install --quiet --disable-pip-version-check -r docs/requirements.txt
	cp docs/requirements.txt $venv/requirements.txt
fi
NO_MKDOCS_2_WARNING=1 $venv/bin/mkdocs build --quiet --strict --site-dir "$(realpath -m "$folder")"
go run ./web/view/site "$folder/explore"
