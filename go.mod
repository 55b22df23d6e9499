module github.com/boxsum/boxsum

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/rogpeppe/go-internal v1.16.0
	golang.org/x/image v0.47.0
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
	pgregory.net/rapid v1.3.0
)

require (
	github.com/alecthomas/kong v1.16.0
	github.com/ebitengine/purego v0.10.1
	github.com/klauspost/compress v1.18.4
	github.com/mattn/go-runewidth v0.0.23
	github.com/pierrec/lz4/v4 v4.1.26
	github.com/vbauerster/mpb/v8 v8.12.1
)

require (
	github.com/VividCortex/ewma v1.2.0 // indirect
	github.com/acarl005/stripansi v0.0.0-20180116102854-5a71ef0e047d // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
)
