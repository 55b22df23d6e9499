package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
)

// maxReport is the maximum size of a file of results.
const maxReport = 64 << 20

// A report holds the results of boxsum reproduce or boxsum bench. The page draws its charts.
type report struct {
	info Info
	data json.RawMessage
}

func looksLikeReport(data []byte) bool {
	head := bytes.TrimLeft(data[:min(len(data), 64)], " \r\n\t")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

func newReport(name string, data []byte, err error) (Document, error) {
	if err != nil {
		return nil, err
	}
	if len(data) > maxReport {
		return nil, refuse("report is %s, want at most %s", size(int64(len(data))), size(maxReport))
	}
	var of struct {
		Results []json.RawMessage `json:"results"`
	}
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil {
		of.Results = list
		data, _ = json.Marshal(map[string]any{"title": name, "results": list})
	} else if err := json.Unmarshal(data, &of); err != nil {
		return nil, refuse("%s is not a report: %v", name, err)
	}
	if len(of.Results) == 0 {
		return nil, refuse("%s is not a report: it has no results, as boxsum reproduce and boxsum bench --json write them", name)
	}
	return &report{Info{Name: name, Kind: "report"}, data}, nil
}

// openReport reads the results in a folder. It does not follow links out of the folder.
func openReport(name, folder string) (Document, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open("results.json")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxReport+1))
	return newReport(name, data, err)
}

func (d *report) Info() *Info  { return &d.info }
func (d *report) bytes() int64 { return int64(len(d.data)) }
func (d *report) Close() error { return nil }

func (d *report) answer(_ context.Context, r *request) (any, []byte, error) {
	if r.Do != "report" {
		return nil, nil, refuse("a report has no pixels")
	}
	return d.data, nil, nil
}
