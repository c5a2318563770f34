package xmiddle

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// check returns all problems of the policy, joined.
func (config CORSConfig) check() error {
	var problems []error
	report := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("xmiddle: CORS: "+format, args...))
	}
	// the forbidden names are those of the Fetch standard
	checkNames := func(field string, names []string, forbidden ...string) {
		for _, name := range names {
			switch {
			// a method has the same syntax as a header name
			case !httpguts.ValidHeaderFieldName(name):
				report("%s: %q is not a valid name", field, name)
			case slices.ContainsFunc(forbidden,
				func(f string) bool { return strings.EqualFold(f, name) }):
				report("%s: %q is forbidden to scripts", field, name)
			}
		}
	}
	config.checkOrigins(report)
	checkNames("AllowMethods", config.AllowMethods, http.MethodConnect, http.MethodTrace, "TRACK")
	checkNames("AllowHeaders", config.AllowHeaders)
	checkNames("ExposeHeaders", config.ExposeHeaders, "Set-Cookie", "Set-Cookie2")
	for _, m := range config.AllowMethods {
		if m != strings.ToUpper(m) {
			report("AllowMethods: %q is not in upper case", m)
		}
	}
	if config.AllowCredentials && slices.Contains(config.ExposeHeaders, anything) {
		report(`ExposeHeaders: "*" cannot be combined with AllowCredentials`)
	}
	if config.MaxAge%time.Second != 0 {
		report("MaxAge: %v is not a whole number of seconds", config.MaxAge)
	}
	return errors.Join(problems...)
}

func (config CORSConfig) checkOrigins(report func(string, ...any)) {
	if len(config.AllowOrigins) == 0 && config.AllowOriginFunc == nil {
		report("neither AllowOrigins nor AllowOriginFunc is set")
	}
	if slices.Contains(config.AllowOrigins, anything) {
		if len(config.AllowOrigins) > 1 || config.AllowOriginFunc != nil {
			report(`AllowOrigins: "*" cannot be combined with other origins`)
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

// originProblem returns the reason why pattern is rejected, or "".
func originProblem(pattern string) string {
	scheme, host, _ := strings.Cut(pattern, "://")
	domain, wildcard := strings.CutPrefix(host, "*.")
	u, err := url.Parse(scheme + "://" + domain)
	switch {
	case pattern == "null":
		return "is the origin of every sandboxed page"
	case err != nil || scheme == "" || u.Host != domain || strings.HasSuffix(domain, ":"),
		!isHost(u.Hostname()) && net.ParseIP(u.Hostname()) == nil,
		pattern != strings.ToLower(pattern):
		return "is not of the form scheme://host or scheme://*.domain, in lower case and ASCII"
	case wildcard && !strings.Contains(domain, "."):
		return "matches a whole top-level domain"
	case scheme == "https" && u.Port() == "443", scheme == "http" && u.Port() == "80":
		return "contains the default port, which browsers omit"
	}
	return ""
}

// isHost reports whether a string is a host name.
var isHost = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`).MatchString
