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
		if problem := methodProblem(m); problem != "" {
			report("AllowMethods: %q %s", m, problem)
		}
	}
	for _, name := range config.AllowHeaders {
		if !httpguts.ValidHeaderFieldName(name) {
			report("AllowHeaders: %q is no header name", name)
		}
	}
	for _, name := range config.ExposeHeaders {
		if problem := config.exposeProblem(name); problem != "" {
			report("ExposeHeaders: %q %s", name, problem)
		}
	}
	if config.MaxAge%time.Second != 0 {
		report("MaxAge: %v is no whole number of seconds", config.MaxAge)
	}
	return errors.Join(problems...)
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
	scheme, host, ok := strings.Cut(pattern, "://")
	domain, wildcard := strings.CutPrefix(host, "*.")
	switch {
	case pattern == "null":
		return "is what any sandboxed page sends"
	case !ok || scheme == "":
		return "is not of the form scheme://host"
	case wildcard && !strings.Contains(domain, "."):
		return "stands for a whole top-level domain"
	case pattern != strings.ToLower(pattern):
		return "is not in lower case"
	}
	return hostProblem(scheme, domain)
}

// hostProblem is originProblem for the host, which may have a port.
func hostProblem(scheme, host string) string {
	u, err := url.Parse(scheme + "://" + host)
	switch {
	case err != nil || u.Host != host || u.Hostname() == "" || strings.HasSuffix(host, ":"):
		return "is not of the form scheme://host or scheme://*.domain"
	case !isHost(u.Hostname()) && net.ParseIP(u.Hostname()) == nil:
		return "has a host name that is not in its ASCII form"
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

// methodProblem says why a method cannot stand in a policy, or "".
func methodProblem(method string) string {
	switch {
	case method == anything:
		return ""
	case !httpguts.ValidHeaderFieldName(method): // methods and names are tokens alike
		return "is no method"
	case method != strings.ToUpper(method):
		return "is not in upper case, and methods are compared exactly"
	case method == http.MethodConnect || method == http.MethodTrace || method == "TRACK":
		return "is forbidden to scripts"
	}
	return ""
}

func (config CORSConfig) exposeProblem(name string) string {
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		return "is no header name"
	case name == anything && config.AllowCredentials:
		return "cannot be combined with AllowCredentials"
	case strings.EqualFold(name, "Set-Cookie") || strings.EqualFold(name, "Set-Cookie2"):
		return "is forbidden to scripts"
	}
	return ""
}
