#!/bin/sh
# Prints what CHANGELOG.md says of a version, such as v0.2.0: the notes of its release.
set -eu
cd "$(dirname "$0")/.."
awk -v want="## ${1#v}" 'index($0, "## ") == 1 { on = index($0, want) == 1; next } on' CHANGELOG.md | grep -q . ||
	{ echo "CHANGELOG.md has no section ${1#v}" >&2; exit 1; }
awk -v want="## ${1#v}" 'index($0, "## ") == 1 { on = index($0, want) == 1; next } on' CHANGELOG.md
