package page

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/openapix/internal/page/spec"
)

// policy returns the content security policy. Scripts may send requests to the service
// itself and to the servers of the document.
func policy(servers []spec.Server) string {
	sources := []string{"'self'"}
	for _, server := range servers {
		if o := origin(server.URL); o != "" && !slices.Contains(sources, o) {
			sources = append(sources, o)
		}
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; " +
		"img-src 'self' data:; connect-src " + strings.Join(sources, " ") +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

var host = regexp.MustCompile(`^(\[[0-9a-fA-F:.]+\]|[0-9A-Za-z.-]+)(:[0-9]+)?$`)

// origin returns the origin of an absolute URL, or "".
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || !host.MatchString(u.Host) {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// protect sets the security headers.
func (p *Page) protect(h http.Header) {
	h.Set("Content-Security-Policy", p.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Permissions-Policy",
		"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}
