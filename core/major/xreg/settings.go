package xreg

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/joho/godotenv"

	xBase "github.com/plinthgo/plinth/core/common/xbase"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
)

// Settings is what options and environment say about serving and stopping.
type Settings struct {
	// Address is host:port.
	Address string
	// Listener is served instead of a new one, where it is not nil.
	Listener net.Listener
	// Debug is the debug mode.
	Debug bool
	// Profile is the profile of the response envelope.
	Profile xBase.Profile
	// DrainDelay is the time between the beginning of the stop and the end of accepting.
	DrainDelay time.Duration
	// ShutdownTimeout bounds the whole stop.
	ShutdownTimeout time.Duration
}

// settings resolves the plan against the environment, which has been checked.
func settings(p *xOption.Plan) Settings {
	s := Settings{
		Address:         p.Address,
		Listener:        p.Listener,
		Debug:           xEnv.Bool(xEnv.Debug),
		DrainDelay:      xEnv.Duration(xEnv.DrainDelay),
		ShutdownTimeout: xEnv.Duration(xEnv.ShutdownTimeout),
	}
	if s.Address == "" {
		s.Address = net.JoinHostPort(xEnv.String(xEnv.Host), strconv.Itoa(xEnv.Int(xEnv.Port)))
	}
	if p.Debug != nil {
		s.Debug = *p.Debug
	}
	if _, set := xEnv.GetEnv(xEnv.DrainDelay); s.Debug && !set {
		s.DrainDelay = 0
	}
	if p.DrainDelay != nil {
		s.DrainDelay = *p.DrainDelay
	}
	if p.ShutdownTimeout != nil {
		s.ShutdownTimeout = *p.ShutdownTimeout
	}
	s.Profile, _ = xBase.ParseProfile(xEnv.String(xEnv.Envelope)) // checked with the environment
	if p.Profile != nil {
		s.Profile = *p.Profile
	}
	return s
}

// server returns an HTTP server with the limits of the environment, and then changed.
func server(changes []func(*http.Server)) *http.Server {
	s := &http.Server{
		ReadHeaderTimeout: xEnv.Duration(xEnv.ReadHeaderTimeout),
		ReadTimeout:       xEnv.Duration(xEnv.ReadTimeout),
		IdleTimeout:       unlimited(xEnv.Duration(xEnv.IdleTimeout)),
		MaxHeaderBytes:    xEnv.Int(xEnv.MaxHeaderBytes),
	}
	s.ReadHeaderTimeout = unlimited(s.ReadHeaderTimeout)
	for _, change := range changes {
		change(s)
	}
	return s
}

// unlimited turns 0 into what net/http takes for no limit: for it, 0 means ReadTimeout.
func unlimited(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

// trustedProxies returns the proxies that are believed, and what is wrong with those of the environment.
func trustedProxies(p *xOption.Plan) ([]string, error) {
	if p.TrustedProxies != nil {
		return p.TrustedProxies, nil
	}
	var errs []error
	list := xEnv.List(xEnv.TrustedProxies)
	for _, proxy := range list {
		if !xOption.ValidProxy(proxy) {
			errs = append(errs, xEnv.Problem(xEnv.TrustedProxies, proxy,
				"is neither an address nor a CIDR range", "for example 10.0.0.0/8,192.0.2.7"))
		}
	}
	return list, errors.Join(errs...)
}

// defaultEnvFile is read where it exists.
const defaultEnvFile = ".env"

// loadEnv reads the plan's files into the environment, and then its defaults. An error says where a file is wrong, and
// not what stands there.
func loadEnv(p *xOption.Plan) error {
	defaults := make(map[string]string, len(p.EnvDefaults))
	for key, value := range p.EnvDefaults {
		defaults[key.String()] = value
	}
	return errors.Join(loadEnvFiles(p), xEnv.Apply(defaults))
}

func loadEnvFiles(p *xOption.Plan) error {
	if p.NoEnvFile {
		return nil
	}
	files, optional := p.EnvFiles, false
	if len(files) == 0 {
		files, optional = []string{defaultEnvFile}, true
	}
	var errs []error
	for _, name := range files {
		text, err := os.ReadFile(name) //nolint:gosec // the path is the application's own
		if optional && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		values, err := godotenv.UnmarshalBytes(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: line %d is not NAME=value", name, badLine(string(text))))
			continue
		}
		errs = append(errs, xEnv.Apply(values))
	}
	return errors.Join(errs...)
}

// badLine returns the number of the line at which a .env file stops being one: the line after the longest
// beginning that is one. The parser's own error is of no use here, because it quotes values.
func badLine(text string) int {
	lines := strings.SplitAfter(text, "\n")
	for n := len(lines) - 1; n > 0; n-- {
		if _, err := godotenv.Unmarshal(strings.Join(lines[:n], "")); err == nil {
			return n + 1
		}
	}
	return 1
}
