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

// settings are the settings of serving and stopping with the environment that they come from.
type settings struct {
	startup.Settings

	env variables
}

// check returns what is wrong with the settings beyond what xenv.Validate reports.
func (s settings) check() error { return errors.Join(s.checkHost(), s.checkDrainDelay()) }

// checkHost reports an address in place of a host, which may contain a password.
func (s settings) checkHost() error {
	host := s.env.Host
	if !strings.ContainsAny(host, "@/") {
		return nil
	}
	return xenv.Problem(xenv.Host, host, "is no host", "a name or an address without its port")
}

// checkDrainDelay reports a drain delay after which no time is left for requests: they would be cut off in every stop. What
// is wrong with one of the two alone is reported elsewhere.
func (s settings) checkDrainDelay() error {
	most := s.ShutdownTimeout - s.Reserve()
	if s.DrainDelay <= 0 || s.ShutdownTimeout <= 0 || s.DrainDelay < most {
		return nil
	}
	return fmt.Errorf("%s and %s, or xoption.WithDrainDelay and xoption.WithShutdownTimeout: "+
		"after a drain delay of %s a shutdown timeout of %s leaves no time to finish requests "+
		"(accepted: a drain delay below %s, or a longer shutdown timeout)",
		drainDelayKey, shutdownTimeoutKey, s.DrainDelay, s.ShutdownTimeout, most)
}

// atTerminal reports whether standard output or standard error is a terminal: then a developer waits for the stop, and no
// load balancer. Either may be redirected to a file.
var atTerminal = func() bool {
	return slices.ContainsFunc([]*os.File{os.Stdout, os.Stderr}, func(f *os.File) bool {
		return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
	})
}

// settings resolves the plan against the environment, which has been checked.
func newSettings(p *startup.Plan) settings {
	env := loadVariables()
	s := settings{env: env, Settings: startup.Settings{
		Address:         p.Address,
		Listener:        p.Listener,
		Debug:           env.Debug,
		WriteTimeout:    env.WriteTimeout,
		DrainDelay:      env.DrainDelay,
		ShutdownTimeout: env.ShutdownTimeout,
	}}
	if s.Address == "" {
		s.Address = net.JoinHostPort(env.Host, strconv.Itoa(env.Port))
	}
	if p.Debug != nil {
		s.Debug = *p.Debug
	}
	if _, set := xenv.GetEnv(drainDelayKey); !set && (s.Debug || atTerminal()) {
		s.DrainDelay = 0
	}
	if p.DrainDelay != nil {
		s.DrainDelay = *p.DrainDelay
	}
	if p.ShutdownTimeout != nil {
		s.ShutdownTimeout = *p.ShutdownTimeout
	}
	s.Profile, _ = xbase.ParseProfile(env.Envelope) // checked with the environment
	if p.Profile != nil {
		s.Profile = *p.Profile
	}
	return s
}

// server returns an HTTP server with the limits of the environment, and then changed.
func server(env variables, changes []func(*http.Server)) *http.Server {
	s := &http.Server{
		ReadHeaderTimeout: env.ReadHeaderTimeout,
		ReadTimeout:       env.ReadTimeout,
		IdleTimeout:       unlimited(env.IdleTimeout),
		MaxHeaderBytes:    env.MaxHeaderBytes,
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
func (s settings) trustedProxies(p *startup.Plan) ([]string, error) {
	if p.TrustedProxies != nil {
		return p.TrustedProxies, nil
	}
	var errs []error
	list := s.env.TrustedProxies
	for _, proxy := range list {
		if !startup.ValidProxy(proxy) {
			errs = append(errs, xenv.Problem("PLINTH_TRUSTED_PROXIES", proxy,
				"is neither an address nor a CIDR range", "for example 10.0.0.0/8,192.0.2.7"))
		}
	}
	return list, errors.Join(errs...)
}

// excludeURLs returns the patterns of the environment, and what is wrong with the others.
func (s settings) excludeURLs() (patterns []string, err error) {
	var errs []error
	for _, p := range s.env.ExcludeURLs {
		if !strings.HasPrefix(p, "/") {
			errs = append(errs, xenv.Problem("CONTEXT_EXCLUDE_URLS", p, "does not begin with a slash",
				"path patterns such as /healthz,/static/*"))
			continue
		}
		patterns = append(patterns, p)
	}
	return patterns, errors.Join(errs...)
}
