#!/bin/sh
# scripts/release/sbom.sh PROGRAM FILE VERSION lists the modules that a program was built from, as CycloneDX.
set -eu
case $2 in
/*) file=$2 ;;
*) file=$PWD/$2 ;;
esac
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")/../.."
go tool -modfile=internal/tools/go.mod cyclonedx-gomod bin -json -std -noserial -notimestamp -version "$3" -output "$file" "$program"
