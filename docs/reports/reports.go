// Package reports holds the measurements that the explorer shows where no report is open.
package reports

import _ "embed"

// H200 is the report of boxsum reproduce on an NVIDIA H200 and the processor beside it.
//
//go:embed h200/results.json
var H200 []byte
