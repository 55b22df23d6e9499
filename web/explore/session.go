package explore

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/docs/reports"
)

// Limits bounds the resources of a session.
type Limits struct {
	Bytes     int64 // of all documents sent to the session, decoded
	Body      int64 // of one file that is sent
	Request   int64 // of the JSON of a request
	Documents int
	Boxes     int // in one request
}

// Usual contains limits for a server on the user's own machine.
var Usual = Limits{Bytes: 4 << 30, Body: 1 << 30, Request: 1 << 20, Documents: 64, Boxes: 10000}

// A Library holds the documents that all sessions share. They were named when the program started.
type Library struct {
	Documents []Document
	Cascades  []Named // installed cascades
}

// A Named is a file that can be read.
type Named struct {
	Name string
	Read func() ([]byte, error)
}

// A Session holds the documents that one page has opened. Other sessions do not see them. All
// sessions share the documents of the library.
type Session struct {
	library *Library
	limits  Limits

	mu       sync.Mutex
	next     int
	own      map[int]Document
	bundles  map[string]*bundle
	cascades map[string]*cascade
	used     int64
}

// NewSession returns a session with a library, which may be nil.
func NewSession(library *Library, limits Limits) *Session {
	if library == nil {
		library = &Library{}
	}
	return &Session{library: library, limits: limits, next: ownFirst, own: map[int]Document{}, bundles: map[string]*bundle{}, cascades: map[string]*cascade{}}
}

// ownFirst is the number of the first document opened by a session; documents of the library have smaller numbers.
const ownFirst = 1000

// A Document is an open image, volume, store or report.
type Document interface {
	Info() *Info
	// answer executes a request.
	answer(ctx context.Context, r *request) (any, []byte, error)
	bytes() int64
	Close() error
}

// Info describes a document to the page.
type Info struct {
	ID       int     `json:"id"`
	Name     string  `json:"name"`
	Kind     string  `json:"kind"` // image, volume, store or report
	Width    int     `json:"width,omitempty"`
	Height   int     `json:"height,omitempty"`
	Depth    int     `json:"depth,omitempty"`
	Channels int     `json:"channels,omitempty"`
	Color    bool    `json:"color,omitempty"` // tiles have red, green and blue
	Pixel    string  `json:"pixel,omitempty"`
	Sum      string  `json:"sum,omitempty"`
	Low      float64 `json:"low"` // values that tiles show as black and white
	High     float64 `json:"high"`
	Missing  bool    `json:"missing,omitempty"` // some pixels are NaN and do not count
	Table    bool    `json:"table"`             // boxes of any size can be queried
	Millis   float64 `json:"ms,omitempty"`      // time taken to make the table
	Level    string  `json:"level,omitempty"`
	Workers  int     `json:"workers,omitempty"`
	Format   string  `json:"format,omitempty"`
	Note     string  `json:"note,omitempty"`
	Demo     bool    `json:"demo,omitempty"`
}

// A request is a request of the page. Do determines which fields are used.
type request struct {
	Do       string    `json:"do"`
	Doc      int       `json:"doc"`
	Name     string    `json:"name"`
	Key      string    `json:"key"`
	Kind     string    `json:"kind"`
	Level    int       `json:"level"`
	X        int       `json:"x"`
	Y        int       `json:"y"`
	Z        int       `json:"z"`
	Size     int       `json:"size"`
	Channel  int       `json:"channel"`
	Boxes    [][]int   `json:"boxes"`
	Box      []int     `json:"box"`
	Rect     []float64 `json:"rect"`
	Limit    int       `json:"limit"`
	Ratio    string    `json:"ratio"`
	Method   string    `json:"method"`
	Radius   int       `json:"radius"`
	Window   int       `json:"window"`
	Sigma    float64   `json:"sigma"`
	Epsilon  float64   `json:"epsilon"`
	Percent  float64   `json:"percent"`
	Clip     float64   `json:"clip"`
	Strength float64   `json:"strength"`
	K        *float64  `json:"k"`
	Top      int       `json:"top"`
	Scale    float64   `json:"scale"`
	Least    int       `json:"least"`
	Near     int       `json:"neighbors"`
	Angle    float64   `json:"angle"`
	All      bool      `json:"all"`
	Cascade  string    `json:"cascade"`
	View     []int     `json:"view"`  // visible part of the image, if that is all the page needs
	Width    int       `json:"width"` // of the view, in pixels of the screen
	Height   int       `json:"height"`
	Quick    bool      `json:"quick"` // a slider is moving
	Save     bool      `json:"save"`  // return the result as a file
	What     *request  `json:"what"`
}

// A userError describes a problem with the request, and can be shown to the user.
type userError struct{ text string }

func (e userError) Error() string { return e.text }

func refuse(format string, args ...any) error { return userError{fmt.Sprintf(format, args...)} }

// Do executes one request, which is JSON with additional bytes if a file is sent. The reply
// consists of the length of its JSON in 4 bytes (little-endian), the JSON, and pixels if there are
// any. For an error, the JSON has the field error.
func (s *Session) Do(ctx context.Context, asked, body []byte) []byte {
	reply, pixels, err := s.do(ctx, asked, body)
	if err != nil {
		reply, pixels = map[string]string{"error": Plain(err)}, nil
	}
	text, err := json.Marshal(reply)
	if err != nil {
		text, pixels = []byte(`{"error":"the answer cannot be encoded as JSON"}`), nil
	}
	frame := make([]byte, 4, 4+len(text)+len(pixels))
	binary.LittleEndian.PutUint32(frame, uint32(len(text)))
	return append(append(frame, text...), pixels...)
}

func (s *Session) do(ctx context.Context, asked, body []byte) (reply any, pixels []byte, err error) {
	defer func() { // a third-party decoder may panic
		if p := recover(); p != nil {
			reply, pixels, err = nil, nil, refuse("invalid request: %v", p)
		}
	}()
	switch {
	case int64(len(asked)) > s.limits.Request:
		return nil, nil, refuse("request is %d bytes, want at most %d", len(asked), s.limits.Request)
	case int64(len(body)) > s.limits.Body:
		return nil, nil, refuse("the file is %s, want at most %s (name larger ones on the command line)", size(int64(len(body))), size(s.limits.Body))
	}
	var r request
	if err := json.Unmarshal(asked, &r); err != nil {
		return nil, nil, refuse("invalid JSON request: %v", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if len(r.Boxes) > s.limits.Boxes {
		return nil, nil, refuse("request has %d boxes, want at most %d", len(r.Boxes), s.limits.Boxes)
	}
	if heavy[r.Do] {
		select {
		case gate <- struct{}{}:
			defer func() { <-gate }()
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	switch r.Do {
	case "hello":
		return s.hello(), nil, nil
	case "open":
		return s.open(ctx, &r, body)
	case "put":
		return s.put(&r, body)
	case "bundle":
		return s.openBundle(ctx, &r)
	case "close":
		return s.close(&r)
	case "cascade":
		if r.Cascade != "sun" {
			return nil, nil, refuse("unknown cascade %q, want sun", r.Cascade)
		}
		return map[string]int{"size": len(sun)}, sun, nil
	case "bundled":
		return json.RawMessage(reports.H200), nil, nil
	}
	doc := s.document(r.Doc)
	if doc == nil {
		return nil, nil, refuse("document %d is not open", r.Doc)
	}
	switch r.Do {
	case "info":
		return doc.Info(), nil, nil
	case "code":
		return codeOf(ctx, doc, &r)
	case "detect":
		return s.detect(ctx, doc, &r)
	}
	return doc.answer(ctx, &r)
}

// heavy lists requests that use all processors for a while, and gate limits how many of them run at once: the others
// wait, while queries of boxes are not delayed.
var (
	heavy = map[string]bool{"filter": true, "threshold": true, "match": true, "detect": true, "moments": true, "save": true, "open": true, "bundle": true}
	gate  = make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))
)

// hello answers the page's first request.
func (s *Session) hello() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	docs := []*Info{}
	for i, d := range s.library.Documents {
		info := *d.Info()
		info.ID = i
		docs = append(docs, &info)
	}
	numbers := []int{}
	for id := range s.own {
		numbers = append(numbers, id)
	}
	slices.Sort(numbers)
	for _, id := range numbers {
		docs = append(docs, s.own[id].Info())
	}
	cascades := []string{"sun"}
	for _, c := range s.library.Cascades {
		cascades = append(cascades, c.Name)
	}
	for name := range s.cascades {
		if !slices.Contains(cascades, name) {
			cascades = append(cascades, name)
		}
	}
	level := "portable"
	if levels := boxsum.Levels(); len(levels) > 0 {
		level = levels[len(levels)-1].String()
	}
	return map[string]any{
		"documents": docs, "cascades": cascades, "level": level, "workers": runtime.GOMAXPROCS(0), "system": runtime.GOOS + "/" + runtime.GOARCH,
		"body": s.limits.Body, "kinds": featureKinds(), "methods": thresholdMethods(),
	}
}

func (s *Session) document(id int) Document {
	if id >= 0 && id < len(s.library.Documents) {
		return s.library.Documents[id]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own[id]
}

// add adds a document to the session if it fits.
func (s *Session) add(d Document) (any, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.own) >= s.limits.Documents {
		d.Close()
		return nil, nil, refuse("%d documents are open, the most that this page allows (close one first)", len(s.own))
	}
	if s.used+d.bytes() > s.limits.Bytes {
		d.Close()
		return nil, nil, refuse("%s does not fit: this page may use %s and already uses %s (close others, or name the file on the command line)", d.Info().Name, size(s.limits.Bytes), size(s.used))
	}
	s.used += d.bytes()
	d.Info().ID = s.next
	s.own[s.next] = d
	s.next++
	return d.Info(), nil, nil
}

func (s *Session) close(r *request) (any, []byte, error) {
	s.mu.Lock()
	d := s.own[r.Doc]
	if d != nil {
		s.used -= d.bytes()
		delete(s.own, r.Doc)
	}
	s.mu.Unlock()
	if d == nil {
		return nil, nil, refuse("document %d is not open, or was named on the command line", r.Doc)
	}
	return map[string]bool{"closed": true}, nil, d.Close()
}

// Bytes returns the approximate memory used by the session's own documents.
func (s *Session) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Close closes all documents of the session.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, d := range s.own {
		d.Close()
		delete(s.own, id)
	}
	clear(s.bundles)
	clear(s.cascades)
	s.used = 0
}

// Plain returns the message of an error as one line without names of folders.
func Plain(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return "a file could not be read: " + path.Err.Error()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "the request took too long and was stopped"
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// size formats a number of bytes.
func size(n int64) string {
	for _, unit := range []string{"bytes", "KiB", "MiB"} {
		if n < 10000 {
			return fmt.Sprintf("%d %s", n, unit)
		}
		n >>= 10
	}
	return fmt.Sprintf("%d GiB", n)
}

// finite returns a number, or nil (null in JSON) if it is not finite.
func finite(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

func finites(values ...float64) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = finite(v)
	}
	return all
}
