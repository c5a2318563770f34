package xreg

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/internal/startup"
)

// checkSettings returns what is wrong with the settings beyond what xenv.Validate reports.
func checkSettings(s startup.Settings) error { return errors.Join(checkHost(), checkDrainDelay(s)) }

// checkHost reports an address in place of a host, which may contain a password.
func checkHost() error {
	host := xenv.String(xenv.Host)
	if !strings.ContainsAny(host, "@/") {
		return nil
	}
	return xenv.Problem(xenv.Host, host, "is no host", "a name or an address without its port")
}

// checkDrainDelay reports a drain delay after which no time is left for requests: they would be cut off in every stop. What
// is wrong with one of the two alone is reported elsewhere.
func checkDrainDelay(s startup.Settings) error {
	most := s.ShutdownTimeout - s.Reserve()
	if s.DrainDelay <= 0 || s.ShutdownTimeout <= 0 || s.DrainDelay < most {
		return nil
	}
	return fmt.Errorf("%s and %s, or xoption.WithDrainDelay and xoption.WithShutdownTimeout: "+
		"after a drain delay of %s a shutdown timeout of %s leaves no time to finish requests "+
		"(accepted: a drain delay below %s, or a longer shutdown timeout)",
		xenv.DrainDelay, xenv.ShutdownTimeout, s.DrainDelay, s.ShutdownTimeout, most)
}

// atTerminal reports whether standard output or standard error is a terminal: then a developer waits for the stop, and no
// load balancer. Either may be redirected to a file.
var atTerminal = func() bool {
	return slices.ContainsFunc([]*os.File{os.Stdout, os.Stderr}, func(f *os.File) bool {
		return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
	})
}

// settings resolves the plan against the environment, which has been checked.
func settings(p *startup.Plan) startup.Settings {
	s := startup.Settings{
		Address:         p.Address,
		Listener:        p.Listener,
		Debug:           xenv.Bool(xenv.Debug),
		WriteTimeout:    xenv.Duration(xenv.WriteTimeout),
		DrainDelay:      xenv.Duration(xenv.DrainDelay),
		ShutdownTimeout: xenv.Duration(xenv.ShutdownTimeout),
	}
	if s.Address == "" {
		s.Address = net.JoinHostPort(xenv.String(xenv.Host), strconv.Itoa(xenv.Int(xenv.Port)))
	}
	if p.Debug != nil {
		s.Debug = *p.Debug
	}
	if _, set := xenv.GetEnv(xenv.DrainDelay); !set && (s.Debug || atTerminal()) {
		s.DrainDelay = 0
	}
	if p.DrainDelay != nil {
		s.DrainDelay = *p.DrainDelay
	}
	if p.ShutdownTimeout != nil {
		s.ShutdownTimeout = *p.ShutdownTimeout
	}
	s.Profile, _ = xbase.ParseProfile(xenv.String(xenv.Envelope)) // checked with the environment
	if p.Profile != nil {
		s.Profile = *p.Profile
	}
	return s
}

// server returns an HTTP server with the limits of the environment, and then changed.
func server(changes []func(*http.Server)) *http.Server {
	s := &http.Server{
		ReadHeaderTimeout: xenv.Duration(xenv.ReadHeaderTimeout),
		ReadTimeout:       xenv.Duration(xenv.ReadTimeout),
		IdleTimeout:       unlimited(xenv.Duration(xenv.IdleTimeout)),
		MaxHeaderBytes:    xenv.Int(xenv.MaxHeaderBytes),
	}
	s.ReadHeaderTimeout = unlimited(s.ReadHeaderTimeout)
	for _, change := range changes {
		change(s)
	}
	return s
}

// unlimited turns 0 into what means no limit to net/http, for which 0 means ReadTimeout, and to the
// request middleware, for which 0 means its default.
func unlimited(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

// trustedProxies returns the proxies that are believed, and what is wrong with those of the environment.
func trustedProxies(p *startup.Plan) ([]string, error) {
	if p.TrustedProxies != nil {
		return p.TrustedProxies, nil
	}
	var errs []error
	list := xenv.List(xenv.TrustedProxies)
	for _, proxy := range list {
		if !startup.ValidProxy(proxy) {
			errs = append(errs, xenv.Problem(xenv.TrustedProxies, proxy,
				"is neither an address nor a CIDR range", "for example 10.0.0.0/8,192.0.2.7"))
		}
	}
	return list, errors.Join(errs...)
}

// excludeURLs returns the patterns of the environment, and what is wrong with the others.
func excludeURLs() (patterns []string, err error) {
	var errs []error
	for _, p := range xenv.List(xenv.ContextExcludeUrls) {
		if !strings.HasPrefix(p, "/") {
			errs = append(errs, xenv.Problem(xenv.ContextExcludeUrls, p, "does not begin with a slash",
				"path patterns such as /healthz,/static/*"))
			continue
		}
		patterns = append(patterns, p)
	}
	return patterns, errors.Join(errs...)
}
