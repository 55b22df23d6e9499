#!/bin/sh
# Writes the texts that are distributed with every program into build/texts: manual page, completions, licenses.
set -eu
cd "$(dirname "$0")/../.."
to=build/texts
rm -rf $to
mkdir -p $to/completions
go build -trimpath -buildvcs=false -tags nogpu -ldflags "-X github.com/boxsum/boxsum/internal/cli.release=v$1" -o build/boxsum ./cmd/boxsum
build/boxsum man >$to/boxsum.1
gzip -9nc $to/boxsum.1 >$to/boxsum.1.gz
build/boxsum completion bash >$to/completions/boxsum.bash
build/boxsum completion zsh >$to/completions/_boxsum
build/boxsum completion fish >$to/completions/boxsum.fish
build/boxsum completion powershell >$to/completions/boxsum.ps1
rm build/boxsum
scripts/release/licenses.sh ./cmd/boxsum >$to/LICENSES.txt
