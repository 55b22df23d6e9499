package view

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// A guard rejects requests that do not come from the page. A browser lets any page send requests to this machine, and a
// foreign name may resolve to it (DNS rebinding). Therefore the Host must be a name that the user can have typed, and an
// Origin must be the page itself.
type guard struct {
	port  string
	host  string // address passed to listen
	ip    net.IP
	token string
}

func newGuard(address net.Addr, host, token string) guard {
	h, port, _ := net.SplitHostPort(address.String())
	return guard{port: port, host: host, ip: net.ParseIP(h), token: token}
}

// Address returns the URL of the page.
func (g *guard) Address() string {
	host := g.host
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = outward()
	}
	address := "http://" + net.JoinHostPort(host, g.port) + "/"
	if g.token != "" {
		address += g.token + "/"
	}
	return address
}

// outward returns an address at which other machines can reach this one.
func outward() string {
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}

// check returns the path of a valid request without its token. For others it returns an HTTP status and the reason.
func (g *guard) check(r *http.Request) (rest string, status int, why string) {
	if !g.ours(r.Host) {
		return "", http.StatusForbidden, "unknown host name: open the address that boxsum view prints"
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" || u.Host != r.Host {
			return "", http.StatusForbidden, "requests from other pages are refused"
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return "", http.StatusForbidden, "requests from other pages are refused"
	}
	rest = r.URL.Path
	if g.token != "" {
		given, after, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		if subtle.ConstantTimeCompare([]byte(given), []byte(g.token)) != 1 {
			return "", http.StatusForbidden, "the address has no token: open the address that boxsum view prints"
		}
		rest = "/" + after
	}
	if rest != "/" && path.Clean(rest) != rest {
		return "", http.StatusNotFound, "no such page"
	}
	return rest, 0, ""
}

// ours reports whether a Host is this server: an IP address, which no name server controls, or a name that the user gave.
func (g *guard) ours(given string) bool {
	host, port, err := net.SplitHostPort(given)
	if err != nil { // browsers omit the default port
		host, port = strings.Trim(given, "[]"), "80"
	}
	if port != g.port {
		return false
	}
	if host == "localhost" || g.host != "" && strings.EqualFold(host, g.host) {
		return true
	}
	ip := net.ParseIP(host)
	if ip == nil {
		return false
	}
	return ip.IsLoopback() || g.token != ""
}
