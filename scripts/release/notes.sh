#!/bin/sh
# Prints the section of CHANGELOG.md for a version, such as v0.2.0: its release notes.
set -eu
cd "$(dirname "$0")/../.."
awk -v want="## ${1#v}" 'index($0, "## ") == 1 { on = index($0, want) == 1; next } on' CHANGELOG.md | grep -q . ||
	{ echo "CHANGELOG.md has no section ${1#v}" >&2; exit 1; }
awk -v want="## ${1#v}" 'index($0, "## ") == 1 { on = index($0, want) == 1; next } on' CHANGELOG.md
