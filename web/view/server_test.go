package view

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/web/explore"
)

// start serves the demo picture and the given files.
func start(t *testing.T, token string, files ...string) (*Server, string) {
	t.Helper()
	library := &explore.Library{Documents: []explore.Document{explore.Demo()}}
	for _, name := range files {
		d, err := explore.OpenFile(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		library.Documents = append(library.Documents, d)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(library, listener.Addr(), "127.0.0.1", token)
	web := &httptest.Server{Listener: listener, Config: &http.Server{Handler: s}}
	web.Start()
	t.Cleanup(func() { web.Close(); s.Close() })
	return s, s.Address()
}

func frame(request any, body []byte) []byte {
	text, _ := json.Marshal(request)
	if raw, ok := request.(string); ok {
		text = []byte(raw)
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
	return append(append(b, text...), body...)
}

const someone = "00112233445566778899aabbccddeeff"

// post sends a request and returns the status and the reply.
func post(t testing.TB, address, session string, data []byte) (int, map[string]any, []byte) {
	t.Helper()
	r, err := http.NewRequest("POST", address+"api", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Boxsum-Session", session)
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, nil, nil
	}
	defer reply.Body.Close()
	all, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Error(err)
	}
	if reply.StatusCode != 200 {
		return reply.StatusCode, map[string]any{"error": string(all)}, nil
	}
	var v map[string]any
	n := binary.LittleEndian.Uint32(all)
	if err := json.Unmarshal(all[4:4+n], &v); err != nil {
		t.Errorf("%s: %v", all[4:4+n], err)
	}
	return 200, v, all[4+n:]
}

func TestForeignHostsAndOrigins(t *testing.T) {
	_, address := start(t, "")
	port := strings.TrimSuffix(address[strings.LastIndex(address, ":")+1:], "/")
	for _, c := range []struct {
		host, origin, site string
		want               int
	}{
		{"", "", "", 200},
		{"localhost:" + port, "", "", 200},
		{"[::1]:" + port, "", "", 200},
		{"127.0.0.1:" + port, "http://127.0.0.1:" + port, "same-origin", 200},
		{"localhost:" + port, "http://localhost:" + port, "", 200},
		{"evil.example:" + port, "", "", 403},
		{"evil.example", "", "", 403},
		{"127.0.0.1", "", "", 403},
		{"127.0.0.1:1", "", "", 403},
		{"10.0.0.1:" + port, "", "", 403},
		{"localhost.evil.example:" + port, "", "", 403},
		{"", "http://evil.example", "", 403},
		{"", "https://127.0.0.1:" + port, "", 403},
		{"", "http://127.0.0.1:1", "", 403},
		{"", "null", "", 403},
		{"", "", "cross-site", 403},
		{"", "", "same-site", 403},
		{"", "", "none", 200},
	} {
		for _, path := range []string{"", "api"} {
			method, body := "GET", io.Reader(nil)
			if path == "api" {
				method, body = "POST", bytes.NewReader(frame(map[string]string{"do": "hello"}, nil))
			}
			r, _ := http.NewRequest(method, address+path, body)
			if c.host != "" {
				r.Host = c.host
			}
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			if c.site != "" {
				r.Header.Set("Sec-Fetch-Site", c.site)
			}
			r.Header.Set("Boxsum-Session", someone)
			reply, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			reply.Body.Close()
			if reply.StatusCode != c.want {
				t.Errorf("%s %q with Host %q, Origin %q and Sec-Fetch-Site %q: %d, want %d", method, path, c.host, c.origin, c.site, reply.StatusCode, c.want)
			}
			policy := reply.Header.Get("Content-Security-Policy")
			if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
				t.Errorf("Content-Security-Policy is %q", policy)
			}
		}
	}
}

func TestToken(t *testing.T) {
	s, address := start(t, "SECRET")
	if !strings.HasSuffix(address, "/SECRET/") {
		t.Fatalf("the address %s has no token", address)
	}
	root := strings.TrimSuffix(address, "SECRET/")
	for path, want := range map[string]int{"": 403, "SECRET": 200, "SECRET/": 200, "SECRET/app.js": 200, "app.js": 403, "secret/": 403, "SECRET2/": 403, "SECRET/../": 404, "api": 403, "SECRET/api": 405} {
		reply, err := http.Get(root + path)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != want && !(path == "SECRET/../" && reply.StatusCode == 403) {
			t.Errorf("%q: %d, want %d", path, reply.StatusCode, want)
		}
	}
	if !s.ours("192.168.7.7:"+s.port) || s.ours("evil.example:"+s.port) {
		t.Error("with a token numbers are good hosts, and foreign names are not")
	}
}

func TestNoOtherFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret.txt"), []byte("a secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(dir, "report")
	os.Mkdir(report, 0o755)
	os.WriteFile(filepath.Join(report, "results.json"), []byte(`{"results":[{"algorithm":"a","width":2,"height":2,"median_ms":1}]}`), 0o644)
	_, address := start(t, "", report)
	host := strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/")
	for _, path := range []string{
		"/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/%2e%2e%2fsecret.txt", "/..%5csecret.txt", "/..%c0%afsecret.txt", "//etc/passwd", "/etc/passwd",
		"/page/../server.go", "/./index.html", "/index.html/", "/index.html%00", "/.", "/..", "/report/results.json", "/C:/secret.txt", "/file:///etc/passwd", "/%252e%252e/secret.txt",
	} {
		// Written by hand, because a client would clean the path.
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, host)
		reply, err := io.ReadAll(c)
		c.Close()
		if err != nil {
			t.Fatal(err)
		}
		if status := string(reply[:min(len(reply), 12)]); status != "HTTP/1.1 404" && status != "HTTP/1.1 400" {
			t.Errorf("%s: %s", path, status)
		}
		if bytes.Contains(reply, []byte("a secret")) || bytes.Contains(reply, []byte("root:")) {
			t.Errorf("%s reads a file", path)
		}
	}
	for _, name := range []string{"../secret.txt", "/etc/passwd", "%2e%2e/secret.txt"} {
		_, v, _ := post(t, address, someone, frame(map[string]any{"do": "open", "name": name}, nil))
		if v["error"] == nil {
			t.Errorf("open %s: %v", name, v)
		}
	}
	// A link out of a report's folder is not followed.
	linked := filepath.Join(dir, "linked")
	os.Mkdir(linked, 0o755)
	if err := os.Symlink(filepath.Join(report, "results.json"), filepath.Join(linked, "results.json")); err != nil {
		ref.Missing(t, "no symbolic links: Windows makes them for administrators and in developer mode: "+err.Error())
	}
	if d, err := explore.OpenFile(t.Context(), linked); err == nil {
		t.Errorf("a link led out of the folder, to %s", d.Info().Name)
	}
	// Neither are links out of a store or a folder of slices, nor levels elsewhere.
	secret := []byte("0123456789abcdef")
	os.WriteFile(filepath.Join(dir, "secret"), secret, 0o600)
	array := func(folder string) {
		os.MkdirAll(filepath.Join(folder, "c", "0"), 0o755)
		os.WriteFile(filepath.Join(folder, "zarr.json"), []byte(`{"zarr_format":3,"node_type":"array","shape":[4,4],"data_type":"uint8","chunk_grid":{"name":"regular","configuration":{"chunk_shape":[4,4]}},"chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},"fill_value":0,"codecs":[{"name":"bytes"}]}`), 0o644)
	}
	for i, name := range []string{"own.zarr", "out.zarr", "level.zarr"} {
		folder := filepath.Join(dir, name)
		array(folder)
		chunk := filepath.Join(folder, "c", "0", "0")
		switch i {
		case 0:
			os.WriteFile(filepath.Join(folder, "chunk"), secret, 0o644)
			os.Symlink("../../chunk", chunk)
		case 1:
			os.Symlink(filepath.Join(dir, "secret"), chunk)
		case 2:
			os.WriteFile(filepath.Join(folder, "zarr.json"), []byte(`{"zarr_format":3,"node_type":"group","attributes":{"ome":{"version":"0.5","multiscales":[{"axes":[{"name":"y","type":"space"},{"name":"x","type":"space"}],"datasets":[{"path":"../own.zarr","coordinateTransformations":[{"type":"scale","scale":[1,1]}]}]}]}}}`), 0o644)
		}
		if d, err := explore.OpenFile(t.Context(), folder); (err == nil) != (i == 0) {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
	slices := filepath.Join(dir, "slices")
	os.Mkdir(slices, 0o755)
	img := imgio.Demo(8, 8)
	for _, name := range []string{filepath.Join(slices, "a.png"), filepath.Join(dir, "b.png")} {
		if err := imgio.Save(name, img); err != nil {
			t.Fatal(err)
		}
	}
	if d, err := explore.OpenFile(t.Context(), slices); err != nil {
		t.Errorf("%v, %v", d, err)
	}
	os.Symlink(filepath.Join(dir, "b.png"), filepath.Join(slices, "b.png"))
	if d, err := explore.OpenFile(t.Context(), slices); err == nil {
		t.Errorf("a link led out of a folder of slices: %v", d.Info())
	}
}

func TestBadRequests(t *testing.T) {
	_, address := start(t, "")
	for _, session := range []string{"", "x", someone[1:], someone + "00", strings.Repeat("z", 32)} {
		if status, _, _ := post(t, address, session, frame(map[string]string{"do": "hello"}, nil)); status != 400 {
			t.Errorf("session %q: %d", session, status)
		}
	}
	for _, data := range [][]byte{nil, {1}, {1, 2, 3}, {255, 255, 255, 255}, {9, 0, 0, 0, '{'}} {
		if status, _, _ := post(t, address, someone, data); status != 400 {
			t.Errorf("%v: %d", data, status)
		}
	}
	many := make([][]int, 10001)
	for _, request := range []any{
		"", "[]", "null", "{", `{"do":1}`, `{"do":"nothing"}`, `{"do":"info","doc":99}`, `{"do":"info","doc":-1}`, `{"do":"close","doc":0}`,
		map[string]any{"do": "boxes", "boxes": many}, map[string]any{"do": "boxes", "boxes": [][]int{{1, 2, 3}}}, `{"do":"boxes","boxes":[[1e30,0,1,1]]}`, `{"do":"boxes","boxes":[[1152921504606846976,0,1,1]]}`,
		`{"do":"tile","size":100000}`, `{"do":"tile","size":0}`, `{"do":"tile","size":256,"level":99}`, `{"do":"tile","size":256,"x":-1}`, `{"do":"tile","size":256,"x":4611686018427387904}`, `{"do":"tile","size":1,"y":4611686018427387904}`,
		`{"do":"boxes","boxes":[[0,0,1,1]],"channel":5}`, `{"do":"boxes","boxes":[[0,0,1,1]],"channel":-1}`,
		`{"do":"filter","method":"box","radius":1000000}`, `{"do":"filter","method":"box","radius":-5}`, `{"do":"filter","method":"?"}`, `{"do":"filter","method":"gaussian","sigma":0}`, `{"do":"filter","method":"gaussian","sigma":1e9}`,
		`{"do":"threshold","method":"?","window":5}`, `{"do":"match","method":"zncc","box":[0,0,1,1],"top":5}`, `{"do":"match","method":"zncc","box":[0,0,10,10],"top":0}`, `{"do":"match","method":"zncc","box":[0,0,10,10],"top":1000000}`,
		`{"do":"detect","cascade":"../../etc/passwd"}`, `{"do":"detect","cascade":"sun","scale":1.0000001}`, `{"do":"rotated","rect":[1,2,3]}`, `{"do":"rotated","rect":[1,2,3,4,1e300]}`, `{"do":"rotated","rect":[1,2,3,4,30],"limit":1000000}`,
		`{"do":"feature","kind":"EdgeX","box":[0,0,3,3]}`, `{"do":"feature","kind":"?","box":[0,0,4,4]}`, `{"do":"moments","box":[0]}`, `{"do":"report"}`, `{"do":"bundle","name":"x"}`, `{"do":"code"}`,
	} {
		status, v, _ := post(t, address, someone, frame(request, nil))
		if status != 200 || v["error"] == nil || v["error"] == "" {
			t.Errorf("%.100v: %d, %v", request, status, v)
		}
	}
	for name, data := range map[string][]byte{"empty": nil, "text": []byte("hello"), "png": []byte("\x89PNG\r\n\x1a\n"), "npy": []byte("\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }"), "zip": []byte("PK\x03\x04"), "cascade": []byte("<opencv_storage>")} {
		if _, v, _ := post(t, address, someone, frame(map[string]any{"do": "open", "name": name}, data)); v["error"] == nil {
			t.Errorf("%s: %v", name, v)
		}
	}
	if status, v, _ := post(t, address, someone, frame(map[string]any{"do": "hello"}, nil)); status != 200 || v["documents"] == nil {
		t.Errorf("it no longer answers: %d, %v", status, v)
	}
}

func TestOversized(t *testing.T) {
	_, address := start(t, "")
	r, _ := http.NewRequest("POST", address+"api", io.LimitReader(rubbish{}, 1<<40))
	r.ContentLength = 1 << 40
	r.Header.Set("Boxsum-Session", someone)
	reply, err := http.DefaultClient.Do(r)
	if err == nil {
		reply.Body.Close()
		if reply.StatusCode != 413 {
			t.Errorf("a terabyte: %d", reply.StatusCode)
		}
	}
	r, _ = http.NewRequest("POST", address+"api", struct{ io.Reader }{strings.NewReader("x")})
	r.Header.Set("Boxsum-Session", someone)
	if reply, err = http.DefaultClient.Do(r); err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	if reply.StatusCode != 411 {
		t.Errorf("no length: %d", reply.StatusCode)
	}
}

type rubbish struct{}

func (rubbish) Read(b []byte) (int, error) { return len(b), nil }

// TestUsersDoNotMix opens files of the same name in two pages: neither may see the other's.
func TestUsersDoNotMix(t *testing.T) {
	_, address := start(t, "")
	ids := map[string]float64{}
	for i, session := range []string{someone, strings.Repeat("ab", 16)} {
		var b bytes.Buffer
		if err := imgio.WriteNPY(&b, []int{1, 2}, func(yield func([]uint8) bool) { yield([]uint8{uint8(i), 10}) }); err != nil {
			t.Fatal(err)
		}
		_, v, _ := post(t, address, session, frame(map[string]any{"do": "open", "name": "a.npy"}, b.Bytes()))
		if v["error"] != nil {
			t.Fatal(v)
		}
		ids[session] = v["id"].(float64)
	}
	for i, session := range []string{someone, strings.Repeat("ab", 16)} {
		_, v, _ := post(t, address, session, frame(map[string]any{"do": "boxes", "doc": ids[session], "boxes": [][]int{{0, 0, 2, 1}}}, nil))
		if got := v["boxes"].([]any)[0].(map[string]any)["sum"]; got != fmt.Sprint(10+i) {
			t.Errorf("page %d has a sum of %v", i, got)
		}
	}
	if _, v, _ := post(t, address, strings.Repeat("cd", 16), frame(map[string]any{"do": "info", "doc": ids[someone]}, nil)); v["error"] == nil {
		t.Errorf("a third page sees %v", v)
	}
}

// TestStorm sends 10,000 valid, invalid and oversized requests on 32 connections. The server must then answer as before,
// and its memory must be released.
func TestStorm(t *testing.T) {
	requests := 10000
	if testing.Short() {
		requests = 1000
	}
	s, address := start(t, "")
	before := heap()
	sessions := make([]string, 100)
	for i := range sessions {
		sessions[i] = fmt.Sprintf("%032x", i)
	}
	var picture bytes.Buffer
	imgio.Encode(&picture, "png", imgio.Demo(300, 200))
	transport := &http.Transport{MaxConnsPerHost: 32, MaxIdleConnsPerHost: 32}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	work := make(chan int)
	var group sync.WaitGroup
	for range 32 {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range work {
				rnd := rand.New(rand.NewPCG(uint64(i), 1))
				var data []byte
				switch rnd.IntN(10) {
				case 0:
					data = frame(map[string]any{"do": "open", "name": "p.png"}, picture.Bytes())
				case 1:
					data = frame(map[string]any{"do": "open", "name": "bad"}, make([]byte, rnd.IntN(5000)))
				case 2:
					data = make([]byte, 4+rnd.IntN(100))
				case 3:
					data = frame(strings.Repeat("[", 1<<20+5), nil) // exceeds the limit of a request
				case 4:
					data = frame(map[string]any{"do": "tile", "kind": "image", "size": 128, "x": rnd.IntN(20), "y": rnd.IntN(20), "level": rnd.IntN(4)}, nil)
				case 5:
					data = frame(map[string]any{"do": "histogram", "box": []int{rnd.IntN(2000), rnd.IntN(1000), rnd.IntN(2000), rnd.IntN(1000)}}, nil)
				case 6:
					data = frame(map[string]any{"do": "filter", "method": "box", "radius": rnd.IntN(20), "doc": 1000}, nil)
				case 7:
					data = frame(map[string]any{"do": "put", "name": "f", "key": fmt.Sprint(i)}, make([]byte, 10000))
				default:
					data = frame(map[string]any{"do": "boxes", "boxes": [][]int{{rnd.IntN(3000) - 500, rnd.IntN(2000) - 500, rnd.IntN(3000), rnd.IntN(2000)}}}, nil)
				}
				r, _ := http.NewRequest("POST", address+"api", bytes.NewReader(data))
				r.Header.Set("Boxsum-Session", sessions[rnd.IntN(len(sessions))])
				reply, err := client.Do(r)
				if err != nil {
					t.Error(err)
					continue
				}
				io.Copy(io.Discard, reply.Body)
				reply.Body.Close()
				if reply.StatusCode >= 500 {
					t.Errorf("status %d", reply.StatusCode)
				}
			}
		}()
	}
	for i := range requests {
		work <- i
	}
	close(work)
	group.Wait()
	_, v, _ := post(t, address, someone, frame(map[string]any{"do": "boxes", "boxes": [][]int{{1050, 290, 1330, 570}}}, nil))
	if got := v["boxes"].([]any)[0].(map[string]any)["sum"]; got != "17884493" {
		t.Errorf("after the storm, the sum is %v", got)
	}
	if s.flying.Load() != 0 {
		t.Errorf("%d bytes are still under way", s.flying.Load())
	}
	s.Close()
	transport.CloseIdleConnections()
	http.DefaultClient.CloseIdleConnections()
	var after uint64
	for range 50 {
		if after = heap(); after < before+(32<<20) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("memory was %d bytes, and is %d", before, after)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestServe starts like the command line, and stops when the context is done.
func TestServe(t *testing.T) {
	for _, listen := range []string{"", "127.0.0.1"} {
		ctx, cancel := context.WithCancel(t.Context())
		r, w := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- Serve(ctx, Options{Out: w, Listen: listen}) }()
		line := make([]byte, 200)
		n, err := r.Read(line)
		if err != nil {
			t.Fatal(err)
		}
		address := strings.TrimSpace(string(line[:n]))
		if token := strings.Count(address, "/") == 4; token != (listen != "") {
			t.Errorf("the address %s", address)
		}
		reply, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != 200 {
			t.Errorf("%s: %d", address, reply.StatusCode)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if err := Serve(t.Context(), Options{Files: []string{"not there"}, Out: io.Discard}); err == nil {
		t.Error("a file that is not there is served")
	}
}

// TestUsualPort tests Hosts as browsers send them for port 80.
func TestUsualPort(t *testing.T) {
	g := guard{port: "80", host: "127.0.0.1"}
	for host, want := range map[string]bool{"localhost": true, "127.0.0.1": true, "[::1]": true, "localhost:80": true, "evil.example": false, "localhost:81": false} {
		if g.ours(host) != want {
			t.Errorf("%s: %v", host, !want)
		}
	}
	if g.port = "8080"; g.ours("localhost") {
		t.Error("port 80 is taken for 8080")
	}
}

// TestBusySessions tests the limit on the number of sessions.
func TestBusySessions(t *testing.T) {
	s := NewServer(&explore.Library{}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, "", "")
	defer s.Close()
	var last func()
	for i := range maxSessions {
		_, last = s.session(fmt.Sprint(i))
	}
	if one, _ := s.session("more"); one != nil || len(s.sessions) != maxSessions {
		t.Errorf("%d sessions", len(s.sessions))
	}
	last()
	if one, _ := s.session("more"); one == nil {
		t.Error("an idle one does not go")
	}
}
