#!/bin/sh
# The documentation as a folder for any web server, or none, and the explorer in its folder explore, which needs a
# web server. Every link is checked.
#
#	scripts/site.sh [FOLDER]
set -eu
cd "$(dirname "$0")/.."
folder=${1:-site}
scripts/venv.sh .venv/site docs/requirements.txt python3
NO_MKDOCS_2_WARNING=1 .venv/site/bin/mkdocs build --quiet --strict --site-dir "$(realpath -m "$folder")"
go run ./web/view/site "$folder/explore"
