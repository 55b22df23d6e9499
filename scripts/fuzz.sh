#!/bin/sh
# Runs every fuzzer of the project for the time given, such as 1m.
set -eu
cd "$(dirname "$0")/.."
grep -rl '^func Fuzz' --include='*_test.go' . | while read -r file; do
	sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$file" | while read -r name; do
		echo "== $name for $1"
		go test -run '^$' -fuzz "^$name\$" -fuzztime "$1" -fuzzminimizetime 10x "$(dirname "$file")"
	done
done
