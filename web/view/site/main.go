// Command site writes the page of boxsum view as a folder that any web server can serve. It includes the engine as
// WebAssembly, so pictures never leave the user's machine.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum/web/view"
)

// maxEngine is the maximum compressed size of the engine.
const maxEngine = 8 << 20

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: site FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	page := view.Page()
	err := fs.WalkDir(page, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(folder, filepath.FromSlash(name))
		if entry.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := fs.ReadFile(page, name)
		if err != nil {
			return err
		}
		if name == "index.html" {
			policy := `<meta http-equiv="Content-Security-Policy" content="` + strings.Join(view.Policy(true), "; ") + `">`
			before := `<meta name="boxsum-engine" content="server">`
			if !bytes.Contains(data, []byte(before)) {
				return errors.New("index.html does not say which engine it has")
			}
			data = bytes.Replace(data, []byte(before), []byte(policy+"\n"+strings.Replace(before, "server", "wasm", 1)), 1)
			// Browsers do not run modules of a page opened as a file, so the page has to explain that itself; app.js removes the text.
			empty := `<p id="message" role="status" aria-live="polite">`
			if !bytes.Contains(data, []byte(empty+"</p>")) {
				return errors.New("index.html has no place for messages")
			}
			data = bytes.Replace(data, []byte(empty), []byte(empty+"Loading… If this stays: a web server has to serve this page, such as <code>python3 -m http.server</code> in its folder."), 1)
		}
		return os.WriteFile(to, data, 0o644)
	})
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	loader, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "wasm_exec.js"), loader, 0o644); err != nil {
		return err
	}
	return engine(filepath.Join(folder, "boxsum.wasm.gz"))
}

// engine builds the engine.
func engine(to string) error {
	raw := to + ".tmp"
	defer os.Remove(raw)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", raw, "github.com/boxsum/boxsum/web/explore/wasm")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building the engine: %w", err)
	}
	data, err := os.ReadFile(raw)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if packed.Len() > maxEngine {
		return fmt.Errorf("the compressed engine has %d bytes, want at most %d", packed.Len(), maxEngine)
	}
	fmt.Printf("%s: %.1f MB, %.1f MB before compression\n", filepath.Base(to), float64(packed.Len())/1e6, float64(len(data))/1e6)
	return os.WriteFile(to, packed.Bytes(), 0o644)
}
