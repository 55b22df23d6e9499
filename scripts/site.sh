#!/bin/sh
# Builds the documentation as a folder for any web server, or for use without one, and the explorer in its folder
# explore, which needs a web server. Checks every link.
#
#	scripts/site.sh [FOLDER]
set -eu
cd "$(dirname "$0")/.."
folder=${1:-site}
scripts/venv.sh .venv/site docs/requirements.txt python3
NO_MKDOCS_2_WARNING=1 .venv/site/bin/mkdocs build --quiet --strict --site-dir "$(realpath -m "$folder")"
go run ./web/view/site "$folder/explore"
