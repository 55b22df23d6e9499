// Package browser drives the page of boxsum view in a real browser, with the server and with WebAssembly. It is a module
// of its own, so that nobody who uses the library downloads what it takes.
package browser

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/boxsum/boxsum/internal/explore"
	"github.com/boxsum/boxsum/internal/view"
)

// browser is one Chromium for all tests.
var browser = sync.OnceValues(func() (context.Context, error) {
	path := ""
	for _, name := range []string{"chromium", "google-chrome", "chromium-browser"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, fmt.Errorf("there is no chromium: install Debian's package of that name")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("force-color-profile", "srgb"), chromedp.WSURLReadTimeout(time.Minute))
	ctx, _ := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, _ = chromedp.NewContext(ctx)
	return ctx, chromedp.Run(ctx)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if ctx, err := browser(); err == nil {
		chromedp.Cancel(ctx)
	}
	os.Exit(code)
}

// A form is a screen and a colour scheme.
type form struct {
	name          string
	width, height int64
	scale         float64
	phone, dark   bool
}

var forms = []form{
	{"desktop-light", 1440, 900, 1, false, false},
	{"desktop-dark", 1440, 900, 1, false, true},
	{"phone-light", 360, 740, 2, true, false},
	{"phone-dark", 360, 740, 2, true, true},
}

// A tab is a page under test.
type tab struct {
	t      *testing.T
	ctx    context.Context
	mu     sync.Mutex
	errors []string
	asked  []string // addresses
}

func open(t *testing.T, address string, f form) *tab {
	t.Helper()
	ctx, err := browser()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	ctx, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			b.asked = append(b.asked, e.Request.URL)
		case *cdpruntime.EventExceptionThrown:
			b.errors = append(b.errors, e.ExceptionDetails.Error())
		case *cdpruntime.EventConsoleAPICalled:
			if e.Type == "error" {
				b.errors = append(b.errors, fmt.Sprint(e.Args))
			}
		}
	})
	scheme := "light"
	if f.dark {
		scheme = "dark"
	}
	b.do(network.Enable(), emulation.SetDeviceMetricsOverride(f.width, f.height, f.scale, f.phone),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.Navigate(address))
	b.wait(`document.body && document.body.dataset.ready === 'yes'`)
	return b
}

func (b *tab) do(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.t.Fatalf("%v\n%s", err, strings.Join(b.errors, "\n"))
	}
}

// wait waits until an expression is true.
func (b *tab) wait(expression string) {
	b.t.Helper()
	end := time.Now().Add(90 * time.Second)
	for time.Now().Before(end) {
		var ok bool
		if err := chromedp.Run(b.ctx, chromedp.Evaluate(`!!(`+expression+`)`, &ok)); err == nil && ok {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	var message string
	chromedp.Run(b.ctx, chromedp.Evaluate(`document.getElementById('message')?.textContent || ''`, &message))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.t.Fatalf("it never became true: %s\n%s\n%s", expression, message, strings.Join(b.errors, "\n"))
}

// eval is the value of an expression, which may be a promise.
func eval[T any](b *tab, expression string) (v T) {
	b.t.Helper()
	var text string
	b.do(chromedp.Evaluate(`Promise.resolve(`+expression+`).then((v) => JSON.stringify(v === undefined ? null : v))`, &text, func(p *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		b.t.Fatalf("%s is %s: %v", expression, text, err)
	}
	return v
}

// settled waits until all tiles are drawn.
func (b *tab) settled() {
	b.t.Helper()
	b.wait(`boxsum.stage.waiting === 0 && !boxsum.stage.dirty`)
	time.Sleep(60 * time.Millisecond)
	b.wait(`boxsum.stage.waiting === 0 && !boxsum.stage.dirty`)
}

// shot keeps a picture of the page where BOXSUM_SHOTS names a folder.
func (b *tab) shot(name string) {
	b.t.Helper()
	folder := os.Getenv("BOXSUM_SHOTS")
	if folder == "" {
		return
	}
	var data []byte
	b.do(chromedp.FullScreenshot(&data, 100))
	os.MkdirAll(folder, 0o755)
	if err := os.WriteFile(filepath.Join(folder, name+".png"), data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// quiet fails if the page reported errors.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.errors) > 0 {
		b.t.Errorf("the page has errors:\n%s", strings.Join(b.errors, "\n"))
	}
}

// requests are the addresses that the page asked for.
func (b *tab) requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.asked)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// serve is the address of a server for files.
func serve(t *testing.T, files ...string) string {
	t.Helper()
	library := &explore.Library{}
	for _, name := range files {
		d, err := explore.OpenFile(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		library.Documents = append(library.Documents, d)
	}
	library.Documents = explore.WithTables(t.Context(), library.Documents)
	if len(library.Documents) == 0 {
		library.Documents = []explore.Document{explore.Demo()}
	}
	if data, err := os.ReadFile("/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml"); err == nil {
		library.Cascades = append(library.Cascades, explore.Named{Name: "haarcascade_frontalface_alt2", Read: func() ([]byte, error) { return data, nil }})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := view.NewServer(library, listener.Addr(), "127.0.0.1", "")
	web := &httptest.Server{Listener: listener, Config: &http.Server{Handler: s}}
	web.Start()
	t.Cleanup(func() { web.Close(); s.Close() })
	return s.Address()
}

// site is the address of the static page, which make site writes.
var site = sync.OnceValues(func() (string, error) {
	if folder := os.Getenv("BOXSUM_SITE"); folder != "" { // that is there already
		return httptest.NewServer(http.FileServer(http.Dir(folder))).URL + "/", nil
	}
	folder, err := os.MkdirTemp("", "boxsum-site-")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "run", "./internal/view/site", folder)
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("make site: %w\n%s", err, out)
	}
	web := httptest.NewServer(http.FileServer(http.Dir(folder)))
	return web.URL + "/", nil
})

// photo writes a picture in colour.
func photo(t *testing.T, width, height int) string {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.SetNRGBA(x, y, color.NRGBA{uint8(x * 255 / width), uint8(y * 255 / height), uint8((x*7 + y*13) % 256), 255})
		}
	}
	name := filepath.Join(t.TempDir(), "photo.png")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, m); err != nil {
		t.Fatal(err)
	}
	return name
}
