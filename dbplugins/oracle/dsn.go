package oracle

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"

	go_ora "github.com/sijms/go-ora/v2"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	defaultPort = 1521

	// caParam is a parameter of the DSN that the library does not have: the file of
	// DATABASE_TLS_CA.
	caParam = "TLS CA"
	// locationParam is the zone of a DATE or TIMESTAMP without one. The library would ask
	// the server for its own.
	locationParam = "SERVER LOCATION"
	// timeoutParam is the library's limit for each read and write, 10 minutes by default.
	// Contexts do that here.
	timeoutParam = "TIMEOUT"
	sslParam     = "SSL"
	verifyParam  = "SSL VERIFY"
)

// The library puts the host and the service into a connect descriptor as they are, in
// which a parenthesis or a quote would begin something else.
var (
	service = regexp.MustCompile("^[^\\x00-\\x1f\\x7f()='\"\\\\/,`\\[\\]]+$")
	host    = regexp.MustCompile(`^[A-Za-z0-9_.:%-]+$`)
)

// DSN implements driver.Driver. Any character may stand in the user and in the password.
func (Driver) DSN(c driver.Config) (string, error) {
	own, ownErr := xenv.Load[settings](c.Source)
	name, variable := own.ServiceName, serviceKey
	if name == "" && c.Name != "" {
		name, variable = c.Name, xenv.DatabaseName
	}
	at, addressErr := address(c)
	params, tlsErr := tlsParams(c)
	missing := driver.Missing(map[xenv.EnvKey]string{
		xenv.DatabaseUser: c.User, xenv.DatabasePass: c.Pass, variable: name,
	})
	if err := errors.Join(missing, ownErr, addressErr, checkService(name, variable),
		tlsErr); err != nil {
		return "", err
	}
	params.Set(locationParam, "UTC")
	params.Set(timeoutParam, "0")
	u := url.URL{
		Scheme: "oracle", User: url.UserPassword(c.User, c.Pass), Host: at, Path: "/" + name,
		RawQuery: params.Encode(),
	}
	return u.String(), nil
}

func address(c driver.Config) (string, error) {
	name, port, err := c.Address(defaultPort)
	if err == nil && !host.MatchString(name) {
		err = xenv.Problem(xenv.DatabaseHost, name, "is no host", "a name or an address")
	}
	return net.JoinHostPort(name, port), err
}

func checkService(name string, variable xenv.EnvKey) error {
	if name == "" || service.MatchString(name) && strings.TrimSpace(name) == name {
		return nil
	}
	return xenv.Problem(variable, name, "is no name of a service", "letters, digits and _ $ # . -")
}

func tlsParams(c driver.Config) (url.Values, error) {
	params := url.Values{}
	mode, err := c.TLSMode()
	switch mode {
	case driver.TLSRequire:
		params.Set(sslParam, "true")
		params.Set(verifyParam, "false")
	case driver.TLSVerifyFull:
		params.Set(sslParam, "true")
		params.Set(verifyParam, "true")
		if c.TLSCA != "" {
			params.Set(caParam, c.TLSCA)
		}
	}
	return params, err
}

// errDSN quotes nothing of the string: where a password is not escaped, any part of it
// may be a piece of that, even the name of a parameter.
var errDSN = errors.New("oracle: the connection string does not parse: want " +
	"oracle://user:password@host:port/service?NAME=value, with the parameters that go-ora has, " +
	"and with %3F for a ? in the password, %40 for a @")

// parse reads a DSN, ours or one of the application's own, and returns what the library
// is to be given.
func parse(dsn string) (clean string, config *tls.Config, err error) {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme != Name {
		return "", nil, errDSN
	}
	params, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", nil, errDSN
	}
	ca := params.Get(caParam)
	params.Del(caParam)
	if !params.Has(locationParam) {
		params.Set(locationParam, "UTC")
	}
	u.RawQuery = params.Encode()
	clean = u.String()
	parts, err := go_ora.ParseConfig(clean)
	switch {
	case err != nil:
		return "", nil, errDSN
	case !parts.SSL && ca != "":
		return "", nil, fmt.Errorf(
			"oracle: the connection string has %q, which is only used with SSL=true", caParam)
	case parts.SSL && parts.Wallet == nil:
		mode := driver.TLSVerifyFull
		if !parts.SSLVerify {
			mode = driver.TLSRequire
		}
		config, err = driver.TLSConfig(mode, ca, u.Hostname())
	}
	return clean, config, err
}
