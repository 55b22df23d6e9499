// Package reports holds the measurements that the explorer shows if no report is open.
package reports

import _ "embed"

// H200 is the report of boxsum reproduce on an NVIDIA H200 and its host processor.
//
//go:embed h200/results.json
var H200 []byte
