// Package postgres registers the "postgres" database driver, which is pgx.
//
//	import _ "github.com/plinthgo/plinth/dbplugins/postgres"
//
// It reads DATABASE_HOST (localhost; a path is the folder of a Unix socket),
// DATABASE_PORT (5432), DATABASE_USER, DATABASE_PASS, DATABASE_NAME, DATABASE_TIMEZONE
// (UTC), DATABASE_TLS (disable) and DATABASE_TLS_CA. User and name have no default.
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

	// connectSeconds is shared by the hosts, so that xdb's own attempt reaches the last
	// one.
	connectSeconds = 5

	// batchSize keeps an insert below the 65535 parameters of a statement for up to 131
	// columns.
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

// DSN implements driver.Driver. The URL names whatever the library would otherwise take
// from PGPASSWORD, .pgpass and their like: the parts are the whole truth about who
// connects to what.
func (Driver) DSN(c driver.Config) (string, error) {
	own, ownErr := xenv.Load[settings](c.Source)
	mode, tlsErr := c.TLSMode()
	host, port, portErr := c.Address(defaultPort)
	missing := driver.Missing(map[xenv.EnvKey]string{
		xenv.DatabaseUser: c.User,
		xenv.DatabaseName: c.Name,
	})
	if err := errors.Join(missing, ownErr, checkTexts(c, own), portErr, checkHost(c),
		tlsErr); err != nil {
		return "", err
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(c.User, c.Pass), Path: "/" + c.Name}
	hosts := 1 + strings.Count(host, ",")
	q := url.Values{
		"connect_timeout": {strconv.Itoa(max(connectSeconds/hosts, 1))},
		"sslmode":         {mode},
		"sslrootcert":     {""}, // with a certificate of the user's, require would be verify-ca
		"timezone":        {own.Timezone},
	}
	if mode == driver.TLSVerifyFull {
		q.Set("sslrootcert", cmp.Or(c.TLSCA, "system"))
	}
	if c.Pass == "" { // which the library would look for in the environment, and then in a file
		q.Set("password", "")
		q.Set("passfile", "")
	}
	// The library takes slashes off a path, and a raw @ in one could be the rest of a
	// password: see whole.
	if strings.HasPrefix(c.Name, "/") || strings.Contains(c.Name, "@") {
		u.Path = "/"
		q.Set("dbname", c.Name)
	}
	if socket(host) {
		q.Set("host", host)
		q.Set("port", port)
	} else {
		u.Host = net.JoinHostPort(host, port)
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// socket reports whether a host is the folder of a Unix socket.
func socket(host string) bool { return strings.HasPrefix(host, "/") }

// checkTexts refuses NUL bytes: the protocol ends a text with one, so that what follows
// would be another parameter.
func checkTexts(c driver.Config, own settings) error {
	var problems []error
	for _, part := range []struct {
		key   xenv.EnvKey
		value string
	}{
		{xenv.DatabaseHost, c.Host},
		{xenv.DatabaseUser, c.User},
		{xenv.DatabasePass, c.Pass},
		{xenv.DatabaseName, c.Name},
		{"DATABASE_TIMEZONE", own.Timezone},
	} {
		if strings.ContainsRune(part.value, 0) {
			problems = append(problems, xenv.Problem(part.key, part.value, "holds a NUL byte", ""))
		}
	}
	return errors.Join(problems...)
}

// checkHost refuses a host that cannot be one. Several, separated by commas, are tried in
// order.
func checkHost(c driver.Config) error {
	_, notIP := netip.ParseAddr(strings.Trim(c.Host, "[]"))
	switch {
	case socket(c.Host) && c.TLS != "" && c.TLS != driver.TLSDisable:
		return xenv.Problem(xenv.DatabaseTLS, c.TLS, "is not possible through a Unix socket",
			driver.TLSDisable)
	case !socket(c.Host) && notIP != nil && strings.ContainsAny(c.Host, `:@/?#%[]\ `+"\t\r\n"):
		return xenv.Problem(xenv.DatabaseHost, c.Host, "is no host",
			"a name or an address without its port, or the folder of a Unix socket")
	default:
		return nil
	}
}

// Describe implements driver.Driver: address and name of the database.
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
