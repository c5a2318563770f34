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

	// caParam is a parameter that Plinth adds to the DSN: the path in DATABASE_TLS_CA.
	caParam = "TLS CA"
	// locationParam is the time zone of a DATE, or of a TIMESTAMP without a time zone.
	// Without it the library queries the server's time zone.
	locationParam = "SERVER LOCATION"
	// timeoutParam is the library's timeout of each read and write, 10 minutes by
	// default. It is disabled, because contexts limit operations.
	timeoutParam = "TIMEOUT"
	sslParam     = "SSL"
	verifyParam  = "SSL VERIFY"
)

// The library inserts the host and the service into a connect descriptor without
// escaping. Parentheses or quotes would change the descriptor.
var (
	service = regexp.MustCompile("^[^\\x00-\\x1f\\x7f()='\"\\\\/,`\\[\\]]+$")
	host    = regexp.MustCompile(`^[A-Za-z0-9_.:%-]+$`)
)

// DSN implements driver.Driver. The user and the password may contain any character.
func (Driver) DSN(c driver.Config) (string, error) {
	vars, varsErr := xenv.Load[settings](c.Source)
	name, variable := vars.ServiceName, serviceKey
	if name == "" && c.Name != "" {
		name, variable = c.Name, xenv.DatabaseName
	}
	hostPort, addressErr := address(c)
	params, tlsErr := tlsParams(c)
	missing := driver.Missing(map[xenv.EnvKey]string{
		xenv.DatabaseUser: c.User, xenv.DatabasePass: c.Pass, variable: name,
	})
	serviceErr := checkService(name, variable)
	if err := errors.Join(missing, varsErr, addressErr, serviceErr, tlsErr); err != nil {
		return "", err
	}
	params.Set(locationParam, "UTC")
	params.Set(timeoutParam, "0")
	u := url.URL{
		Scheme: "oracle", User: url.UserPassword(c.User, c.Pass), Host: hostPort,
		Path: "/" + name, RawQuery: params.Encode(),
	}
	return u.String(), nil
}

func address(c driver.Config) (string, error) {
	name, port, err := c.Address(defaultPort)
	if err == nil && !host.MatchString(name) {
		err = xenv.Problem(xenv.DatabaseHost, name, "is not a valid host",
			"a host name or an address")
	}
	return net.JoinHostPort(name, port), err
}

func checkService(name string, variable xenv.EnvKey) error {
	if name == "" || service.MatchString(name) && strings.TrimSpace(name) == name {
		return nil
	}
	return xenv.Problem(variable, name, "is not a valid service name",
		"letters, digits and _ $ # . -")
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

// errDSN does not quote the DSN, because an unescaped password may be parsed as any other
// part.
var errDSN = errors.New("oracle: parse DSN: want " +
	"oracle://user:password@host:port/service?NAME=value, with parameters of go-ora, " +
	"and special characters in the password percent-encoded, such as %3F for ? and %40 for @")

// parse parses a DSN and returns the DSN and the TLS configuration for the library.
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
		return "", nil, fmt.Errorf("oracle: parse DSN: parameter %q requires SSL=true", caParam)
	case parts.SSL && parts.Wallet == nil:
		mode := driver.TLSVerifyFull
		if !parts.SSLVerify {
			mode = driver.TLSRequire
		}
		config, err = driver.TLSConfig(mode, ca, u.Hostname())
	}
	return clean, config, err
}
