// Package browser drives the page of boxsum view in a real browser, with the server and with WebAssembly. It is a separate
// module so that users of the library do not download its dependencies.
package browser

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
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

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/web/explore"
	"github.com/boxsum/boxsum/web/view"
)

// browser is one Chromium instance for all tests.
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
	flag.Parse()
	if flag.Lookup("test.parallel").DefValue == flag.Lookup("test.parallel").Value.String() {
		flag.Set("test.parallel", "4") // tabs mostly wait
	}
	code := m.Run()
	if ctx, err := browser(); err == nil {
		chromedp.Cancel(ctx)
	}
	os.Exit(code)
}

// A form is a screen size and a color scheme.
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
	asked  []string // requested URLs
}

// open opens the explorer in a tab and waits until it is ready.
func open(t *testing.T, address string, f form) *tab {
	t.Helper()
	b := navigate(t, address, f)
	b.wait(`document.body && document.body.dataset.ready === 'yes'`)
	return b
}

// navigate opens an address in a tab.
func navigate(t *testing.T, address string, f form) *tab {
	t.Helper()
	ctx, err := browser()
	if err != nil {
		ref.Missing(t, "no browser: install Debian's chromium: "+err.Error())
	}
	// Open a separate window: hidden tabs draw nothing.
	id, err := target.CreateTarget("about:blank").WithNewWindow(true).Do(cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(ctx, chromedp.WithTargetID(id))
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
	b.do(network.Enable(), emulation.SetFocusEmulationEnabled(true), emulation.SetDeviceMetricsOverride(f.width, f.height, f.scale, f.phone),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.Navigate(address))
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

// wait waits until an expression is true. The page evaluates it many times a second.
func (b *tab) wait(expression string) {
	b.t.Helper()
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); {
		var ok bool
		err := chromedp.Run(b.ctx, chromedp.Evaluate(`new Promise((done) => { const end = performance.now() + 3000, look = () => {
			try { if (`+expression+`) return done(true); } catch {}
			if (performance.now() > end) done(false); else setTimeout(look, 4);
		}; look(); })`, &ok, func(p *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams { return p.WithAwaitPromise(true) }))
		if err == nil && ok {
			return
		}
		if err != nil { // the page was navigating
			time.Sleep(20 * time.Millisecond)
		}
	}
	var message string
	chromedp.Run(b.ctx, chromedp.Evaluate(`document.getElementById('message')?.textContent || ''`, &message))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.t.Fatalf("it never became true: %s\n%s\n%s", expression, message, strings.Join(b.errors, "\n"))
}

// eval returns the value of an expression, which may be a promise.
func eval[T any](b *tab, expression string) (v T) {
	b.t.Helper()
	var text string
	b.do(chromedp.Evaluate(`Promise.resolve(`+expression+`).then((v) => JSON.stringify(v === undefined ? null : v))`, &text, func(p *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		b.t.Fatalf("%s is %s: %v", expression, text, err)
	}
	return v
}

// settled waits until nothing is in progress: requests, tiles or drawing.
func (b *tab) settled() {
	b.t.Helper()
	b.wait(`boxsum.engine.pending === 0 && boxsum.stage.waiting === 0 && !boxsum.stage.dirty`)
}

// shot saves a screenshot if BOXSUM_SHOTS names a folder.
func (b *tab) shot(name string) {
	b.t.Helper()
	folder := os.Getenv("BOXSUM_SHOTS")
	if folder == "" || filepath.Base(folder) == "images" { // that folder is for TestReadme
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

// requests returns the URLs that the page requested.
func (b *tab) requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.asked)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// cascadeFile belongs to Debian's opencv-data.
const cascadeFile = "/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml"

// server returns the URL of one server for all tests that need no files. Each tab has its own session.
var server = sync.OnceValues(func() (string, error) {
	address, _, err := start()
	return address, err
})

// serve returns the URL of a server for files, started like boxsum view.
func serve(t *testing.T, files ...string) string {
	t.Helper()
	address, end, err := start(files...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return address
}

func start(files ...string) (address string, end func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	options := view.Options{Files: files, Out: pipe(make(chan string, 1))}
	if _, err := os.Stat(cascadeFile); err == nil {
		options.Cascades = []explore.Named{{Name: "haarcascade_frontalface_alt2", Read: func() ([]byte, error) { return os.ReadFile(cascadeFile) }}}
	}
	done := make(chan error, 1)
	go func() { done <- view.Serve(ctx, options) }()
	select {
	case address = <-options.Out.(pipe):
		return address, func() { cancel(); <-done }, nil
	case err = <-done:
		cancel()
		return "", nil, err
	}
}

// A pipe receives printed lines.
type pipe chan string

func (p pipe) Write(line []byte) (int, error) {
	p <- strings.TrimSpace(string(line))
	return len(line), nil
}

// site returns the URL of the explorer without a server: the folder explore of the site in BOXSUM_SITE, or one that is
// built for the tests.
var site = sync.OnceValues(func() (string, error) {
	folder := filepath.Join(os.Getenv("BOXSUM_SITE"), "explore")
	if os.Getenv("BOXSUM_SITE") == "" {
		var err error
		if folder, err = os.MkdirTemp("", "boxsum-site-"); err != nil {
			return "", err
		}
		cmd := exec.Command("go", "run", "./web/view/site", folder)
		cmd.Dir = "../../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("web/view/site: %w\n%s", err, out)
		}
	}
	return httptest.NewServer(http.FileServer(http.Dir(folder))).URL + "/", nil
})

// photo writes a color picture.
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

// until waits until a condition outside the page is true.
func until(t *testing.T, ok func() bool, otherwise string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal(otherwise)
}
