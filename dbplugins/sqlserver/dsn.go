package sqlserver

import (
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/microsoft/go-mssqldb/msdsn"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	defaultPort = 1433

	// caParam is a parameter that Plinth adds to the DSN: the path in DATABASE_TLS_CA.
	caParam = "tls-ca"

	appName = "plinth"
)

// DSN implements driver.Driver. The user, the password and the database name may contain
// any character. A user with a backslash is a Windows user (DOMAIN\user).
func (Driver) DSN(c driver.Config) (string, error) {
	host, instance, hostErr := address(c)
	query, tlsErr := encryption(c)
	missing := driver.Missing(map[xenv.EnvKey]string{
		xenv.DatabaseUser: c.User,
		xenv.DatabaseName: c.Name,
	})
	if err := errors.Join(missing, hostErr, tlsErr); err != nil {
		return "", err
	}
	query.Set(msdsn.Database, c.Name)
	query.Set(msdsn.AppName, appName)
	u := url.URL{
		Scheme: Name, User: url.UserPassword(c.User, c.Pass), Host: host,
		RawQuery: query.Encode(),
	}
	if instance != "" {
		u.Path = "/" + instance
	}
	dsn := u.String()
	if _, err := parse(dsn); err != nil { // only an invalid host causes an error
		return "", xenv.Problem(xenv.DatabaseHost, c.Host, "is not a valid host",
			`a host name, an address or host\instance`)
	}
	return dsn, nil
}

// address returns the host of the URL with its port, and the instance. The library looks
// up the port of an instance if the port is 0; without a port it cannot parse an IPv6
// address.
func address(c driver.Config) (host, instance string, err error) {
	configured := c.Host
	var hasInstance bool
	c.Host, instance, hasInstance = strings.Cut(configured, `\`)
	host, port, err := c.Address(defaultPort)
	switch {
	case err != nil:
		return "", "", err
	case hasInstance && (c.Host == "" || instance == ""):
		return "", "", xenv.Problem(xenv.DatabaseHost, configured, "is not a valid host",
			`a host name, an address or host\instance`)
	case hasInstance && c.Port != 0:
		text := "is set, and " + string(xenv.DatabaseHost) +
			" contains an instance, which has its own port"
		return "", "", xenv.Problem(xenv.DatabasePort, port, text, "one of the two")
	case hasInstance:
		port = "0"
	}
	return net.JoinHostPort(host, port), instance, nil
}

// encryption returns the TLS parameters. With encrypt=false only the login is encrypted;
// a plain-text login would only obfuscate the password. The server may still require
// encryption.
func encryption(c driver.Config) (url.Values, error) {
	mode, err := c.TLSMode()
	if err != nil {
		return nil, err
	}
	q := url.Values{msdsn.Encrypt: {strconv.FormatBool(mode != driver.TLSDisable)}}
	q.Set(msdsn.TrustServerCertificate, strconv.FormatBool(mode != driver.TLSVerifyFull))
	if c.TLSCA != "" {
		q.Set(caParam, c.TLSCA)
	}
	return q, nil
}
