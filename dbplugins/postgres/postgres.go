// Package postgres registers the "postgres" database driver, which uses pgx.
//
//	import _ "github.com/plinthgo/plinth/dbplugins/postgres"
//
// It reads DATABASE_HOST (localhost; a path is the directory of a Unix socket),
// DATABASE_PORT (5432), DATABASE_USER, DATABASE_PASS, DATABASE_NAME, DATABASE_TIMEZONE
// (UTC), DATABASE_TLS (disable) and DATABASE_TLS_CA. DATABASE_USER and DATABASE_NAME are
// required.
package postgres

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// Name is the value of DATABASE_DRIVER that selects this driver.
const Name = "postgres"

const (
	defaultPort = 5432

	// connectSeconds is divided among the hosts, so that one attempt of xdb reaches the
	// last host.
	connectSeconds = 5

	// batchSize keeps an insert of up to 131 columns below the limit of 65535 parameters.
	batchSize = 500
)

func init() {
	xenv.Register[settings]("Database: PostgreSQL")
	xdb.Register(Driver{})
}

type settings struct {
	Timezone string `env:"DATABASE_TIMEZONE" default:"UTC" doc:"Time zone of the session."`
}

// Driver implements driver.Driver. The zero value is ready to use.
type Driver struct{}

// Name implements driver.Driver.
func (Driver) Name() string { return Name }

// InterfaceVersion implements driver.Driver.
func (Driver) InterfaceVersion() int { return 1 }

// DSN implements driver.Driver. The URL sets every parameter that the library would
// otherwise read from PGPASSWORD, .pgpass and similar sources.
func (Driver) DSN(c driver.Config) (string, error) {
	vars, varsErr := xenv.Load[settings](c.Source)
	mode, tlsErr := c.TLSMode()
	host, port, portErr := c.Address(defaultPort)
	missing := driver.Missing(map[xenv.EnvKey]string{
		xenv.DatabaseUser: c.User,
		xenv.DatabaseName: c.Name,
	})
	err := errors.Join(missing, varsErr, checkStrings(c, vars), portErr, checkHost(c), tlsErr)
	if err != nil {
		return "", err
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(c.User, c.Pass), Path: "/" + c.Name}
	hosts := 1 + strings.Count(host, ",")
	q := url.Values{
		"connect_timeout": {strconv.Itoa(max(connectSeconds/hosts, 1))},
		"sslmode":         {mode},
		// if the user has a root certificate, require would mean verify-ca
		"sslrootcert": {""},
		"timezone":    {vars.Timezone},
	}
	if mode == driver.TLSVerifyFull {
		q.Set("sslrootcert", cmp.Or(c.TLSCA, "system"))
	}
	if c.Pass == "" { // otherwise the library reads it from the environment or a file
		q.Set("password", "")
		q.Set("passfile", "")
	}
	// The library strips slashes from a path, and isUnambiguous rejects a raw @ in one.
	if strings.HasPrefix(c.Name, "/") || strings.Contains(c.Name, "@") {
		u.Path = "/"
		q.Set("dbname", c.Name)
	}
	if isSocket(host) {
		q.Set("host", host)
		q.Set("port", port)
	} else {
		u.Host = net.JoinHostPort(host, port)
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// isSocket reports whether host is the directory of a Unix socket.
func isSocket(host string) bool { return strings.HasPrefix(host, "/") }

// checkStrings rejects NUL bytes, which terminate a string in the protocol. The rest of
// the string would become another parameter.
func checkStrings(c driver.Config, vars settings) error {
	var problems []error
	for _, part := range []struct {
		key   xenv.EnvKey
		value string
	}{
		{xenv.DatabaseHost, c.Host},
		{xenv.DatabaseUser, c.User},
		{xenv.DatabasePass, c.Pass},
		{xenv.DatabaseName, c.Name},
		{"DATABASE_TIMEZONE", vars.Timezone},
	} {
		if strings.ContainsRune(part.value, 0) {
			problems = append(problems,
				xenv.Problem(part.key, part.value, "contains a NUL byte", ""))
		}
	}
	return errors.Join(problems...)
}

// checkHost rejects an invalid host. Several hosts are separated by commas.
func checkHost(c driver.Config) error {
	_, notIP := netip.ParseAddr(strings.Trim(c.Host, "[]"))
	switch {
	case isSocket(c.Host) && c.TLS != "" && c.TLS != driver.TLSDisable:
		return xenv.Problem(xenv.DatabaseTLS, c.TLS, "is not supported with a Unix socket",
			driver.TLSDisable)
	case !isSocket(c.Host) && notIP != nil && strings.ContainsAny(c.Host, `:@/?#%[]\ `+"\t\r\n"):
		return xenv.Problem(xenv.DatabaseHost, c.Host, "is not a valid host",
			"a name or an address without its port, or the directory of a Unix socket")
	default:
		return nil
	}
}

// Describe implements driver.Driver. It returns the address and the name of the database.
func (Driver) Describe(dsn string) string {
	c, err := parse(dsn)
	if err != nil {
		return ""
	}
	_, address := pgconn.NetworkAddress(c.Host, c.Port)
	return address + "/" + url.PathEscape(c.Database)
}

// Advice implements driver.Driver.
func (Driver) Advice(c driver.Config) []string { return c.Advice() }

// TransactionalDDL implements driver.Migrator.
func (Driver) TransactionalDDL() bool { return true }

// Dialector implements driver.Driver.
func (Driver) Dialector(dsn string) gorm.Dialector { return newDialector(dsn) }
