#!/bin/sh
# Prints the licenses of the modules that packages are built from, and Go's own: copies of a
# program or library must include these texts.
set -eu
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
CGO_ENABLED=1 go tool -modfile=internal/tools/go.mod go-licenses save --stderrthreshold=ERROR --save_path="$scratch/texts" --ignore github.com/boxsum/boxsum "$@" 2>"$scratch/log" || {
	cat "$scratch/log" >&2
	exit 1
}
mkdir -p "$scratch/texts/go.dev"
cp "$(go env GOROOT)/LICENSE" "$scratch/texts/go.dev/"
echo "boxsum is under the MIT license. It has parts of these, each under its own."
cd "$scratch/texts"
find . -type f \( -iname 'licen*' -o -iname 'unlicen*' -o -iname 'copying*' -o -iname 'notice*' \) | LC_ALL=C sort | while read -r file; do
	printf '\n%s\n%s\n\n' ================================================================================ "${file#./}"
	cat "$file"
done
