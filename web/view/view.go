// Package view serves the page of boxsum view, the explorer of package explore, over HTTP. By
// default it serves only this machine.
//
// The package limits who may send requests (guard.go), how many, and for how long. Requests cannot
// name files: documents have numbers, and pages are embedded.
package view

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/boxsum/boxsum/web/explore"
)

//go:embed page
var embedded embed.FS

// Page returns the files of the page.
func Page() fs.FS {
	sub, err := fs.Sub(embedded, "page")
	if err != nil {
		panic(err) // the name is the one embedded above
	}
	return sub
}

// Options specifies what to serve and where.
type Options struct {
	Files    []string
	Port     int    // 0 selects a free port
	Listen   string // address for access from other machines, which adds a token to the URL
	Open     bool   // open the page in a browser
	Cascades []explore.Named
	Out      io.Writer // receives the URL of the page
}

// Serve serves the page until the context is done.
func Serve(ctx context.Context, o Options) error {
	library := &explore.Library{Cascades: o.Cascades}
	for _, name := range o.Files {
		d, err := explore.OpenFile(ctx, name)
		if err != nil {
			return err
		}
		defer d.Close()
		library.Documents = append(library.Documents, d)
	}
	if library.Documents = explore.WithTables(ctx, library.Documents); len(library.Documents) == 0 {
		library.Documents = []explore.Document{explore.Demo()}
	}
	address, token := net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)), ""
	if o.Listen != "" {
		address, token = o.Listen, rand.Text()
		if _, _, err := net.SplitHostPort(address); err != nil {
			address = net.JoinHostPort(strings.Trim(o.Listen, "[]"), strconv.Itoa(o.Port))
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", address, bare(err))
	}
	host, _, _ := net.SplitHostPort(address)
	s := NewServer(library, listener.Addr(), host, token)
	defer s.Close()
	where := s.Address()
	fmt.Fprintln(o.Out, where)
	if o.Open {
		openBrowser(where)
	}
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 5 * time.Minute, WriteTimeout: 5 * time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 14, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err = <-done:
		return err
	case <-ctx.Done():
	}
	short, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if server.Shutdown(short) != nil {
		server.Close()
	}
	if err = <-done; errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// bare returns an error of package net without its address.
func bare(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// openBrowser asks the system to show a page. If that fails, the user still has the URL.
func openBrowser(address string) {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	cmd := exec.Command(name, args...)
	if cmd.Start() == nil {
		go cmd.Wait()
	}
}
