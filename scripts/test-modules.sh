#!/bin/sh
# Tests the generator of the assembly, the site, and the explorer in a browser. The modules for object stores and Apache
# Beam take minutes to compile: scripts/test-long.sh has them, as the part cloud.
set -eu
. "$(dirname "$0")/steps.sh"
scripts/setup.sh
references

step "generated assembly and tables are what their generator writes"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
go -C internal/kernel/_gen run . -dir "$made"
for name in $({ (cd "$made" && find . -type f); (cd internal/kernel && find . -name '*.s'); } | sort -u); do
	cmp "$made/$name" "internal/kernel/$name" || { echo "stale: run make generate"; exit 1; }
done
if command -v llvm-mc >/dev/null; then # checks the instructions that the generator encodes itself
	go -C internal/kernel/_gen test .
else
	left_out "the check of encoded instructions: needs llvm-mc, of Debian's llvm"
fi

step "the site: it builds, and every link leads somewhere"
export BOXSUM_SITE="$made/site"
scripts/site.sh "$BOXSUM_SITE"

step "the explorer, in a browser"
if command -v chromium >/dev/null || command -v google-chrome >/dev/null; then
	(cd web/view/browser && go vet . && go test -timeout 30m .)
else
	left_out "the explorer: needs chromium"
fi

step "all passed"
