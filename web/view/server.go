package view

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/boxsum/boxsum/web/explore"
)

// limits are those of one session. Large files are named on the command line instead of being sent.
var limits = explore.Limits{Bytes: 4 << 30, Body: 512 << 20, Request: 1 << 20, Documents: 64, Boxes: 10000}

const (
	maxSessions = 64
	maxBytes    = 8 << 30 // of all sessions
	maxFlying   = 1 << 30 // bytes of requests in progress
	maxTime     = time.Minute
)

// A Server answers the requests of pages.
type Server struct {
	guard
	library *explore.Library
	files   map[string]file
	flying  atomic.Int64

	mu       sync.Mutex
	sessions map[string]*session
}

type session struct {
	*explore.Session
	used time.Time
	busy int
}

type file struct {
	kind string
	data []byte
}

// NewServer returns a server for a library, for a listener at the given address. host is the name
// by which the listener was requested. If token is not empty, all paths start with it.
func NewServer(library *explore.Library, address net.Addr, host, token string) *Server {
	s := &Server{library: library, guard: newGuard(address, host, token), files: map[string]file{}, sessions: map[string]*session{}}
	page := Page()
	fs.WalkDir(page, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(page, name)
		s.files["/"+name] = file{mime.TypeByExtension(path.Ext(name)), data}
		return err
	})
	s.files["/"] = s.files["/index.html"]
	return s
}

// Close closes all sessions.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, one := range s.sessions {
		one.Close()
		delete(s.sessions, id)
	}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	rest, status, why := s.check(r)
	if status != 0 {
		http.Error(w, why, status)
		return
	}
	if rest == "/api" {
		s.api(w, r)
		return
	}
	f, ok := s.files[rest]
	switch {
	case !ok:
		http.Error(w, "no such page", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this page accepts GET only", http.StatusMethodNotAllowed)
	default:
		w.Header().Set("Content-Type", f.kind)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.data))
	}
}

// api handles one request: its JSON, preceded by its length and followed by a file.
func (s *Server) api(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		http.Error(w, "requests must use POST", http.StatusMethodNotAllowed)
		return
	}
	id := r.Header.Get("Boxsum-Session")
	if b, err := hex.DecodeString(id); err != nil || len(b) != 16 {
		http.Error(w, "invalid session, want 32 hexadecimal digits", http.StatusBadRequest)
		return
	}
	most := limits.Body + limits.Request + 4
	if r.ContentLength < 0 {
		http.Error(w, "the length of the request is missing", http.StatusLengthRequired)
		return
	}
	if r.ContentLength > most {
		http.Error(w, "the file is too large (name it on the command line)", http.StatusRequestEntityTooLarge)
		return
	}
	if s.flying.Add(r.ContentLength) > maxFlying {
		s.flying.Add(-r.ContentLength)
		http.Error(w, "too much is being sent at once: try again", http.StatusServiceUnavailable)
		return
	}
	defer s.flying.Add(-r.ContentLength)
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			http.Error(w, "the file is too large (name it on the command line)", http.StatusRequestEntityTooLarge)
			return
		}
		http.Error(w, "the request ended early", http.StatusBadRequest)
		return
	}
	if len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4) {
		http.Error(w, "invalid request", http.StatusBadRequest)
		return
	}
	n := int(binary.LittleEndian.Uint32(data))
	one, release := s.session(id)
	if one == nil {
		http.Error(w, "too many pages are busy: try again", http.StatusServiceUnavailable)
		return
	}
	defer release()
	if len(data)-4-n > 0 && s.bytes()+int64(len(data)) > maxBytes {
		http.Error(w, "all open pages together hold too much (close some)", http.StatusServiceUnavailable)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxTime)
	defer cancel()
	reply := one.Do(ctx, data[4:4+n], data[4+n:])
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(reply)))
	w.Write(reply)
}

// session returns the session of a page. If there are too many, it closes the one that has been idle for longest; it
// returns nil if all are busy.
func (s *Server) session(id string) (*session, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.sessions[id]
	if one == nil {
		if len(s.sessions) >= maxSessions {
			oldest := ""
			for key, other := range s.sessions {
				if other.busy == 0 && (oldest == "" || other.used.Before(s.sessions[oldest].used)) {
					oldest = key
				}
			}
			if oldest == "" {
				return nil, nil
			}
			s.sessions[oldest].Close()
			delete(s.sessions, oldest)
		}
		one = &session{Session: explore.NewSession(s.library, limits)}
		s.sessions[id] = one
	}
	one.used = time.Now()
	one.busy++
	return one, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		one.busy--
	}
}

// bytes returns the memory that all sessions use.
func (s *Server) bytes() (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.sessions {
		n += one.Bytes()
	}
	return n
}

func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", strings.Join(Policy(false), "; "))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// Policy returns the Content-Security-Policy of the page. A page with a WebAssembly engine may compile it.
func Policy(wasm bool) []string {
	script := "script-src 'self'"
	if wasm {
		script += " 'wasm-unsafe-eval'"
	}
	return []string{"default-src 'none'", script, "style-src 'self'", "img-src 'self' data: blob:", "connect-src 'self'", "worker-src 'self'", "base-uri 'none'", "form-action 'none'"}
}
