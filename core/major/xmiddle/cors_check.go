package xmiddle

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// check returns everything that is wrong with the policy.
func (config CORSConfig) check() error {
	var problems []error
	report := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("xmiddle: CORS: "+format, args...))
	}
	config.checkOrigins(report)
	for _, m := range config.AllowMethods {
		switch {
		case !httpguts.ValidHeaderFieldName(m) || m != strings.ToUpper(m): // methods and names are tokens alike
			report("AllowMethods: %q is no method in upper case", m)
		case slices.Contains(forbiddenMethods, m):
			report("AllowMethods: %q is forbidden to scripts", m)
		}
	}
	config.checkHeaders(report)
	if config.MaxAge%time.Second != 0 {
		report("MaxAge: %v is no whole number of seconds", config.MaxAge)
	}
	return errors.Join(problems...)
}

// Methods and headers that the Fetch standard forbids to scripts, whatever a policy says.
var (
	forbiddenMethods = []string{http.MethodConnect, http.MethodTrace, "TRACK"}
	forbiddenHeaders = []string{"Set-Cookie", "Set-Cookie2"}
)

func (config CORSConfig) checkHeaders(report func(string, ...any)) {
	for _, name := range config.AllowHeaders {
		if !httpguts.ValidHeaderFieldName(name) {
			report("AllowHeaders: %q is no header name", name)
		}
	}
	for _, name := range config.ExposeHeaders {
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			report("ExposeHeaders: %q is no header name", name)
		case slices.Contains(forbiddenHeaders, http.CanonicalHeaderKey(name)):
			report("ExposeHeaders: %q is forbidden to scripts", name)
		case name == anything && config.AllowCredentials:
			report(`ExposeHeaders: "*" cannot be combined with AllowCredentials`)
		}
	}
}

func (config CORSConfig) checkOrigins(report func(string, ...any)) {
	if len(config.AllowOrigins) == 0 && config.AllowOriginFunc == nil {
		report("neither AllowOrigins nor AllowOriginFunc is set")
	}
	if slices.Contains(config.AllowOrigins, anything) {
		if len(config.AllowOrigins) > 1 || config.AllowOriginFunc != nil {
			report(`AllowOrigins: beside "*" other origins mean nothing`)
		}
		if config.AllowCredentials {
			report(`AllowOrigins: "*" cannot be combined with AllowCredentials`)
		}
		return
	}
	for _, origin := range config.AllowOrigins {
		if problem := originProblem(origin); problem != "" {
			report("AllowOrigins: %q %s", origin, problem)
		}
	}
}

// originProblem says why no browser would send what the pattern stands for, or "".
func originProblem(pattern string) string {
	scheme, host, _ := strings.Cut(pattern, "://")
	domain, wildcard := strings.CutPrefix(host, "*.")
	u, err := url.Parse(scheme + "://" + domain)
	switch {
	case pattern == "null":
		return "is what any sandboxed page sends"
	case err != nil || scheme == "" || u.Host != domain || strings.HasSuffix(domain, ":"),
		!isHost(u.Hostname()) && net.ParseIP(u.Hostname()) == nil, pattern != strings.ToLower(pattern):
		return "is not of the form scheme://host or scheme://*.domain, in lower case and ASCII"
	case wildcard && !strings.Contains(domain, "."):
		return "stands for a whole top-level domain"
	case scheme == "https" && u.Port() == "443", scheme == "http" && u.Port() == "80":
		return "names the port that browsers leave out"
	}
	return ""
}

// isHost reports whether s consists of labels of a host name with dots between them.
func isHost(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || strings.ContainsFunc(label, isNoLabel) {
			return false
		}
	}
	return true
}

func isNoLabel(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}
