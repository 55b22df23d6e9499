package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/zarr"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const secret = "wJalrXUtnFEMI/K7MDENG"

// credentials sets the credentials of the servers that the tests start.
func credentials(t *testing.T) {
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": secret, "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull} {
		t.Setenv(name, value)
	}
}

// fake starts gofakes3 behind a handler and returns the URL of a path in its bucket.
func fake(t *testing.T, wrap func(http.Handler) http.Handler) func(path string) string {
	credentials(t)
	backend := s3mem.New()
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(wrap(gofakes3.New(backend).Server()))
	t.Cleanup(server.Close)
	return func(path string) string {
		return "s3://bucket/" + path + "?endpoint=" + server.URL + "&use_path_style=true&region=us-east-1"
	}
}

func plain(h http.Handler) http.Handler { return h }

// versity starts versitygw for a folder and returns the URL of a path in it.
func versity(t *testing.T) func(path string) string {
	program := os.Getenv("BOXSUM_VERSITYGW")
	if program == "" {
		program = "versitygw"
	}
	program, err := exec.LookPath(program)
	if err != nil {
		if os.Getenv("CI") == "true" && os.Getenv("BOXSUM_VERSITYGW") != "" {
			t.Fatal(err)
		}
		t.Skip("versitygw is not installed, nor does BOXSUM_VERSITYGW name it: scripts/test-servers.sh builds it")
	}
	credentials(t)
	free := httptest.NewServer(http.NotFoundHandler())
	address := free.Listener.Addr().String()
	free.Close()
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/bucket", 0o777); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(program, "--port", address, "--access", "tester", "--secret", secret, "posix", "--sidecar", t.TempDir(), dir)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	for n := 0; ; n++ {
		if r, err := http.Get("http://" + address); err == nil {
			r.Body.Close()
			break
		}
		if n == 300 {
			t.Fatalf("versitygw does not answer: %s", log.String())
		}
		time.Sleep(100 * time.Millisecond)
	}
	return func(path string) string {
		return "s3://bucket/" + path + "?endpoint=http://" + address + "&use_path_style=true&region=us-east-1"
	}
}

// TestS3 tests what every store has to do, on two servers.
func TestS3(t *testing.T) {
	for name, start := range map[string]func(*testing.T) func(string) string{
		"gofakes3":  func(t *testing.T) func(string) string { return fake(t, plain) },
		"versitygw": versity,
	} {
		t.Run(name, func(t *testing.T) {
			at := start(t)
			objects(t, at("some/folder"))
			tables(t, at)
		})
	}
}

// TestAzure does the same on Azurite, the emulator of Azure's blob storage. BOXSUM_AZURITE is its program azurite-blob, which scripts/test-servers.sh installs.
func TestAzure(t *testing.T) {
	program := os.Getenv("BOXSUM_AZURITE")
	if program == "" {
		t.Skip("BOXSUM_AZURITE names no azurite-blob: scripts/test-servers.sh installs it")
	}
	free := httptest.NewServer(http.NotFoundHandler())
	address := free.Listener.Addr().String()
	free.Close()
	_, port, _ := strings.Cut(address, ":")
	var log bytes.Buffer
	cmd := exec.Command(program, "--silent", "--skipApiVersionCheck", "--location", t.TempDir(), "--blobHost", "127.0.0.1", "--blobPort", port)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	// The account of every Azurite.
	const account, key = "devstoreaccount1", "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
	t.Setenv("AZURE_STORAGE_ACCOUNT", account)
	t.Setenv("AZURE_STORAGE_KEY", key)
	credential, err := container.NewSharedKeyCredential(account, key)
	if err != nil {
		t.Fatal(err)
	}
	client, err := container.NewClientWithSharedKeyCredential("http://"+address+"/"+account+"/bucket", credential, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		if _, err = client.Create(context.Background(), nil); err == nil {
			break
		}
		if n == 300 {
			t.Fatalf("Azurite does not answer: %v: %s", err, log.String())
		}
		time.Sleep(100 * time.Millisecond)
	}
	at := func(path string) string {
		return "azblob://bucket/" + path + "?protocol=http&domain=" + address + "&localemu=true"
	}
	objects(t, at("some/folder"))
	tables(t, at)
}

// TestGCS does the same on fake-gcs-server, an emulator of Google Cloud Storage. BOXSUM_GCS is its program, which scripts/test-servers.sh builds.
func TestGCS(t *testing.T) {
	program := os.Getenv("BOXSUM_GCS")
	if program == "" {
		t.Skip("BOXSUM_GCS names no fake-gcs-server: scripts/test-servers.sh builds it")
	}
	free := httptest.NewServer(http.NotFoundHandler())
	address := free.Listener.Addr().String()
	free.Close()
	_, port, _ := strings.Cut(address, ":")
	var log bytes.Buffer
	cmd := exec.Command(program, "-scheme", "http", "-host", "127.0.0.1", "-port", port, "-public-host", address, "-backend", "memory", "-log-level", "error")
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	t.Setenv("STORAGE_EMULATOR_HOST", address)
	for n := 0; ; n++ {
		answer, err := http.Post("http://"+address+"/storage/v1/b", "application/json", strings.NewReader(`{"name":"bucket"}`))
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				break
			}
		}
		if n == 300 {
			t.Fatalf("fake-gcs-server does not answer: %v: %s", err, log.String())
		}
		time.Sleep(100 * time.Millisecond)
	}
	at := func(path string) string { return "gs://bucket/" + path }
	objects(t, at("some/folder"))
	tables(t, at)
}

func objects(t *testing.T, url string) {
	ctx := context.Background()
	b, err := zarr.OpenBucket(ctx, url, true)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Put(ctx, "x/y", []byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		offset, length int64
		want           string
	}{{0, -1, "0123456789"}, {2, 3, "234"}, {7, -1, "789"}, {-4, -1, "6789"}, {9, 1, "9"}, {0, 0, ""}} {
		if got, err := b.Get(ctx, "x/y", c.offset, c.length, nil); err != nil || string(got) != c.want {
			t.Errorf("%d bytes from %d are %q, %v", c.length, c.offset, got, err)
		}
	}
	for _, c := range [][2]int64{{8, 5}, {-11, -1}} {
		if got, err := b.Get(ctx, "x/y", c[0], c[1], nil); err == nil {
			t.Errorf("beyond the end: %q", got)
		}
	}
	for _, key := range []string{"x", "z"} {
		if _, err := b.Get(ctx, key, 0, -1, nil); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q is not there: %v", key, err)
		}
	}
	large := make([]byte, part+part/2) // two parts
	for i := range large {
		large[i] = byte(rand.Uint32())
	}
	if err := b.Put(ctx, "large", large); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Get(ctx, "large", 0, -1, nil); err != nil || !bytes.Equal(got, large) {
		t.Errorf("an object in parts: %d bytes, %v", len(got), err)
	}
	if got, err := b.Get(ctx, "large", part-5, 10, nil); err != nil || !bytes.Equal(got, large[part-5:part+5]) {
		t.Errorf("where two parts meet: %v", err)
	}
	keys := map[string]int64{}
	if err := b.List(ctx, "", func(o zarr.Object) error { keys[o.Key] = o.Size; return nil }); err != nil || len(keys) != 2 || keys["x/y"] != 10 || keys["large"] != int64(len(large)) {
		t.Errorf("has %v, %v", keys, err)
	}
	for range 2 {
		if err := b.Delete(ctx, "large"); err != nil {
			t.Error(err)
		}
	}
	if _, err := b.Get(ctx, "large", 0, -1, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("deleted: %v", err)
	}
}

// picture writes an image of noise and returns its pixels.
func picture(t *testing.T, url string, height, width int) []byte {
	ctx := context.Background()
	b, err := zarr.OpenBucket(ctx, url, true)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	a, err := zarr.Create(ctx, b, "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{height, width}, Chunk: []int{100, 100}, Compression: "zstd", Checksum: true})
	if err != nil {
		t.Fatal(err)
	}
	pix := make([]byte, height*width)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range pix {
		pix[i] = byte(random.Uint32())
	}
	if err := zarr.Write(ctx, a, pix, []int{0, 0}, []int{height, width}); err != nil {
		t.Fatal(err)
	}
	return pix
}

func contents(t *testing.T, url string) map[string]string {
	ctx, all := context.Background(), map[string]string{}
	b, err := zarr.OpenBucket(ctx, url, false)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.List(ctx, "", func(o zarr.Object) error {
		data, err := b.Get(ctx, o.Key, 0, -1, nil)
		all[o.Key] = string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// tables makes a table on the server, queries it and verifies it.
func tables(t *testing.T, at func(string) string) {
	ctx := context.Background()
	const height, width = 530, 410
	pix := picture(t, at("image.zarr"), height, width)
	opt := &store.Options{Block: 200, Chunk: 40, Squares: true}
	if err := store.Integrate(ctx, at("image.zarr"), at("table.zarr"), opt); err != nil {
		t.Fatal(err)
	}
	ask(t, at("table.zarr"), pix, height, width)
	b, _ := zarr.OpenBucket(ctx, at("table.zarr"), true)
	defer b.Close()
	if err := store.Integrate(ctx, at("image.zarr"), at("table.zarr"), &store.Options{Block: 400}); !errors.Is(err, store.ErrChanged) {
		t.Errorf("other options: %v", err)
	}
}

func ask(t *testing.T, url string, pix []byte, height, width int) {
	ctx := context.Background()
	table, err := store.Open(ctx, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	var boxes []image.Rectangle
	for range 200 {
		boxes = append(boxes, image.Rect(rand.IntN(width+1), rand.IntN(height+1), rand.IntN(width+1), rand.IntN(height+1)))
	}
	sums := make([]uint64, len(boxes))
	if err := store.SumBoxes(ctx, table, sums, boxes); err != nil {
		t.Fatal(err)
	}
	for i, b := range boxes {
		var want uint64
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for _, p := range pix[y*width+b.Min.X : y*width+b.Max.X] {
				want += uint64(p)
			}
		}
		if sums[i] != want {
			t.Fatalf("box %v has %d, want %d", b, sums[i], want)
		}
	}
}

// TestFaults uses a server that is busy, breaks off, and sends wrong bytes.
func TestFaults(t *testing.T) {
	var on atomic.Bool
	var requests, faults atomic.Int64
	at := fake(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n := requests.Add(1)
			if !on.Load() {
				h.ServeHTTP(w, r)
				return
			}
			switch n % 7 {
			case 2: // busy
				faults.Add(1)
				w.WriteHeader(http.StatusServiceUnavailable)
			case 4: // the body breaks off
				if r.Method != http.MethodGet {
					h.ServeHTTP(w, r)
					return
				}
				faults.Add(1)
				answer := httptest.NewRecorder()
				h.ServeHTTP(answer, r)
				for name, values := range answer.Header() {
					w.Header()[name] = values
				}
				body := answer.Body.Bytes()
				w.Header().Set("Content-Length", fmt.Sprint(len(body)))
				w.WriteHeader(answer.Code)
				w.Write(body[:len(body)/2])
			default:
				h.ServeHTTP(w, r)
			}
		})
	})
	pix := picture(t, at("image.zarr"), 430, 310)
	opt := &store.Options{Block: 200, Chunk: 40}
	ctx := context.Background()
	if err := store.Integrate(ctx, at("image.zarr"), at("good.zarr"), opt); err != nil {
		t.Fatal(err)
	}
	on.Store(true)
	for tries := 0; ; tries++ { // each run continues the previous one
		err := store.Integrate(ctx, at("image.zarr"), at("table.zarr"), opt)
		if err == nil {
			break
		}
		if tries == 50 {
			t.Fatal(err)
		}
	}
	if faults.Load() < 5 {
		t.Errorf("only %d faults in %d requests", faults.Load(), requests.Load())
	}
	on.Store(false)
	want, got := contents(t, at("good.zarr")), contents(t, at("table.zarr"))
	for key, data := range want {
		if got[key] != data {
			t.Errorf("%s differs", key)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d objects, want %d", len(got), len(want))
	}
	ask(t, at("table.zarr"), pix, 430, 310)
}

// TestSecrets tests that errors contain no credentials.
func TestSecrets(t *testing.T) {
	denied := fake(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, `<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>no</Message></Error>`)
		})
	})
	t.Setenv("AZURE_STORAGE_ACCOUNT", "account")
	t.Setenv("AZURE_STORAGE_KEY", secret)
	for _, url := range []string{
		denied("x.zarr"),
		strings.Replace(denied("x.zarr"), "s3://", "s3://user:"+secret+"@", 1),
		"s3:///path?x=" + secret,
		"s3://bucket/x?nonsense=" + secret,
		"s3://bucket/x?region=us-east-1&use_path_style=true&endpoint=http://127.0.0.1:1/?sig=" + secret,
		"azblob://container/x?nonsense=" + secret,
		"gs://bucket/x?access_id=" + secret + "&nonsense=1",
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_, err := store.Open(ctx, url, nil)
		cancel()
		if err == nil {
			t.Errorf("%s is not a table", url)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("a credential in: %v", err)
		}
	}
	text := clean(errors.New("Put \"https://user:" + secret + "@host/x?sig=" + secret + "\": refused; AccountKey=" + secret)).Error()
	if strings.Contains(text, secret) {
		t.Error(text)
	}
}

// TestBinary builds the command and uses it with a server.
func TestBinary(t *testing.T) {
	if os.Getenv("BOXSUM_BINARY") == "" {
		t.Skip("takes minutes to build the command: set BOXSUM_BINARY to 1, or to a command that is built")
	}
	program := os.Getenv("BOXSUM_BINARY")
	if program == "1" {
		program = t.TempDir() + "/boxsum"
		if out, err := exec.Command("go", "build", "-o", program, "./cmd/boxsum").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	at := fake(t, plain)
	pix := picture(t, at("image.zarr"), 430, 310)
	for _, args := range [][]string{
		{"integrate", at("image.zarr"), "-o", at("table.zarr"), "--squares"},
		{"query", at("table.zarr"), "--box", "0,0,310,430"},
		{"info", at("table.zarr")},
		{"verify", at("table.zarr")},
		{"convert", at("image.zarr"), t.TempDir() + "/copy.zarr"},
	} {
		out, err := exec.Command(program, args...).CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("endpoint")) {
			t.Errorf("%s: %v: %s", args[0], err, out)
		}
		var sum uint64
		for _, p := range pix {
			sum += uint64(p)
		}
		if args[0] == "query" && !bytes.Contains(out, []byte(fmt.Sprint(sum))) {
			t.Errorf("not %d: %s", sum, out)
		}
	}
	ask(t, at("table.zarr"), pix, 430, 310)
}
