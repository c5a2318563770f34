package xreg

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/mattn/go-isatty"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhelper"
)

// check returns the problems of the settings that xenv.Validate does not report.
func check(s *startup.Settings) error {
	return errors.Join(checkHost(), checkDrainDelay(s), checkProxies(s), s.Serve.Check())
}

// checkHost rejects a URL or an address in place of a host, because it may contain a
// password.
func checkHost() error {
	host, _ := xenv.GetEnv(xenv.Host)
	if !strings.ContainsAny(host, "@/") {
		return nil
	}
	return xenv.Problem(xenv.Host, host, "is not a host", "a name or an address without its port")
}

// checkDrainDelay rejects a drain delay that leaves no time to drain requests: every
// shutdown would force-close them. Validate reports values that are invalid on their own.
func checkDrainDelay(s *startup.Settings) error {
	limit := s.ShutdownTimeout - s.Reserve()
	if s.DrainDelay <= 0 || s.ShutdownTimeout <= 0 || s.DrainDelay < limit {
		return nil
	}
	return fmt.Errorf("%s and %s, or xoption.WithDrainDelay and xoption.WithShutdownTimeout: "+
		"after a drain delay of %s a shutdown timeout of %s leaves no time to finish requests "+
		"(accepted: a drain delay below %s, or a longer shutdown timeout)",
		drainDelayKey, shutdownTimeoutKey, s.DrainDelay, s.ShutdownTimeout, limit)
}

// atTerminal reports whether standard output or standard error is a terminal. Either may
// be redirected to a file. At a terminal a developer waits for the shutdown, and there is
// no load balancer.
var atTerminal = func() bool {
	return slices.ContainsFunc([]*os.File{os.Stdout, os.Stderr}, func(f *os.File) bool {
		return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
	})
}

// drainDelayUnset means that neither the environment nor an option sets the drain delay.
const drainDelayUnset = -1

// newSettings combines the environment with the options that have been applied so far.
func (r *Reg) newSettings() *startup.Settings {
	// Load replaces invalid values with their defaults; Validate reports them
	env, _ := xenv.Load[variables](xenv.Environment())
	profile, _ := xbase.ParseProfile(env.Envelope) // Validate reports the error
	s := &startup.Settings{
		Address:         net.JoinHostPort(env.Host, strconv.Itoa(env.Port)),
		TrustedProxies:  env.TrustedProxies,
		WriteTimeout:    env.WriteTimeout,
		DrainDelay:      env.DrainDelay,
		ShutdownTimeout: env.ShutdownTimeout,
		Serve: xhelper.Config{
			Base:                 r.Init.Ctx,
			EnableInput:          env.EnableInput,
			ExcludeURLs:          env.ExcludeURLs,
			MaxBodyBytes:         cmp.Or(env.MaxBodyBytes, startup.NoLimit),
			MaxInflightBodyBytes: cmp.Or(env.MaxInflightBodyBytes, startup.NoLimit),
			RequestTimeout:       cmp.Or(env.RequestTimeout, startup.NoLimit),
			Debug:                env.Debug,
			Profile:              profile,
			TrustProxies:         len(env.TrustedProxies) > 0,
		},
		Server: &http.Server{
			ReadHeaderTimeout: cmp.Or(env.ReadHeaderTimeout, startup.NoLimit),
			ReadTimeout:       env.ReadTimeout,
			IdleTimeout:       cmp.Or(env.IdleTimeout, startup.NoLimit),
			MaxHeaderBytes:    env.MaxHeaderBytes,
		},
	}
	if _, set := xenv.GetEnv(drainDelayKey); !set {
		s.DrainDelay = drainDelayUnset
	}
	for _, change := range r.changes {
		change(s)
	}
	if s.DrainDelay == drainDelayUnset {
		s.DrainDelay = env.DrainDelay
		if s.Serve.Debug || atTerminal() {
			s.DrainDelay = 0
		}
	}
	return s
}

// checkProxies rejects values that are neither an address nor a CIDR range.
func checkProxies(s *startup.Settings) error {
	var errs []error
	for _, proxy := range s.TrustedProxies {
		if new(gin.Engine).SetTrustedProxies([]string{proxy}) != nil {
			errs = append(errs, xenv.Problem("WithTrustedProxies or PLINTH_TRUSTED_PROXIES", proxy,
				"is neither an address nor a CIDR range", "for example 10.0.0.0/8,192.0.2.7"))
		}
	}
	return errors.Join(errs...)
}
