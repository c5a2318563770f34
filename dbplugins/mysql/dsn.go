package mysql

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"regexp"
	"strings"
	"time"

	gosql "github.com/go-sql-driver/mysql"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	defaultPort = 3306

	// caParam is a parameter of the DSN that the library does not have: the file of
	// DATABASE_TLS_CA.
	caParam = "tls-ca"

	// dialTimeout bounds what takes no context, such as gorm's look at the version.
	dialTimeout = 5 * time.Second

	// strict refuses what a column cannot hold, where a server's own setting may be to
	// cut it. A zero date stays allowed, since the zero time.Time is written as one and
	// comes back as it was.
	strict = "CONCAT('STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'," +
		"IF(FIND_IN_SET('ONLY_FULL_GROUP_BY',@@sql_mode),',ONLY_FULL_GROUP_BY',''))"
	utc = "'+00:00'"
)

// charset is what may stand in SET NAMES, in which the library quotes nothing.
var charset = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// DSN implements driver.Driver.
func (Driver) DSN(c driver.Config) (string, error) {
	cfg := gosql.NewConfig()
	cfg.User, cfg.Passwd, cfg.DBName = c.User, c.Pass, c.Name
	portErr := setAddress(cfg, c)
	missing := driver.Missing(map[xenv.EnvKey]string{
		xenv.DatabaseUser: c.User,
		xenv.DatabaseName: c.Name,
	})
	if err := errors.Join(missing, portErr, setCharset(cfg, c.Source), setTLS(cfg, c)); err != nil {
		return "", err
	}
	dsn := cfg.FormatDSN()
	return dsn, survives(cfg, dsn)
}

// setAddress sets what the library calls network and address.
func setAddress(cfg *gosql.Config, c driver.Config) error {
	host, port, err := c.Address(defaultPort)
	cfg.Net, cfg.Addr = "tcp", net.JoinHostPort(host, port)
	if strings.HasPrefix(host, "/") {
		cfg.Net, cfg.Addr = "unix", host
	}
	return err
}

// setCharset also lets the library put the parameters into the statement, which saves a
// round trip and a packet. That is safe in UTF-8, where no byte of a character can be
// taken for a quote or a backslash.
func setCharset(cfg *gosql.Config, s xenv.Source) error {
	own, err := xenv.Load[settings](s)
	if err != nil {
		return err
	}
	name := own.Charset
	if !charset.MatchString(name) {
		return xenv.Problem(charsetKey, name, "is no character set",
			"letters, digits and underscores")
	}
	cfg.InterpolateParams = strings.HasPrefix(strings.ToLower(name), "utf8")
	return cfg.Apply(gosql.Charset(name, ""))
}

func setTLS(cfg *gosql.Config, c driver.Config) error {
	mode, err := c.TLSMode()
	if err != nil {
		return err
	}
	switch mode {
	case driver.TLSRequire:
		cfg.TLSConfig = "skip-verify"
	case driver.TLSVerifyFull:
		if cfg.Net == "unix" {
			return xenv.Problem(xenv.DatabaseTLS, mode,
				"needs the name of a host, and "+string(xenv.DatabaseHost)+" is a socket",
				driver.TLSDisable+", "+driver.TLSRequire)
		}
		cfg.TLSConfig = "true"
		if c.TLSCA != "" {
			cfg.Params = map[string]string{caParam: c.TLSCA}
		}
	}
	return nil
}

// survives reports which part does not come out of the DSN as it went in: the form has no
// escape for the user and the host.
func survives(cfg *gosql.Config, dsn string) error {
	got, err := gosql.ParseDSN(dsn)
	if err != nil {
		got = &gosql.Config{User: cfg.User} // only a host can do that
	}
	switch {
	case got.User != cfg.User:
		return xenv.Problem(xenv.DatabaseUser, cfg.User,
			"holds a colon, for which a connection string has no place", "")
	case got.Addr != cfg.Addr || got.Net != cfg.Net:
		return xenv.Problem(xenv.DatabaseHost, cfg.Addr, "is no host",
			"a name, an address or the path of a socket")
	default:
		return nil
	}
}

// parse reads a DSN, ours or one of the application's own, and fills in what gorm and xdb
// rely on.
func parse(dsn string) (cfg *gosql.Config, err error) {
	defer func() {
		if p := recover(); p != nil { // what the library does at the parameter strict
			err = fmt.Errorf("mysql: the connection string has a parameter that the library has removed: %v", p)
		}
	}()
	if cfg, err = gosql.ParseDSN(dsn); err != nil {
		return nil, harmless(err)
	}
	if err := takeCA(cfg); err != nil {
		return nil, err
	}
	complete(cfg)
	// else MySQL rounds, and a condition compares what no row has
	if !strings.Contains(dsn, "timeTruncate=") {
		err = cfg.Apply(gosql.TimeTruncate(time.Microsecond))
	}
	return cfg, err
}

// harmless keeps the library's text only where it cannot hold a piece of a password.
func harmless(err error) error {
	for _, begin := range []string{
		"invalid DSN: ", "invalid bool value: ",
		"invalid value / unknown config name: ",
	} {
		if strings.HasPrefix(err.Error(), begin) {
			return fmt.Errorf("mysql: %w", err)
		}
	}
	return errors.New("mysql: the connection string does not parse: want user:password@tcp(host:port)/name?parameter=value")
}

// takeCA reads the certificates of our own parameter.
func takeCA(cfg *gosql.Config) error {
	file, ok := cfg.Params[caParam]
	if !ok {
		return nil
	}
	delete(cfg.Params, caParam)
	if cfg.TLSConfig != "true" {
		return fmt.Errorf("mysql: the connection string has %s, which is only used with tls=true",
			caParam)
	}
	var err error
	cfg.TLS, err = driver.TLSConfig(driver.TLSVerifyFull, file, cfg.TLS.ServerName)
	return err
}

// complete sets what a DSN does not say. An update that changes nothing has found its row
// all the same, without which an optimistic lock would see a conflict; a text may be as
// long as the server takes it.
func complete(cfg *gosql.Config) {
	cfg.ParseTime, cfg.ClientFoundRows = true, true
	cfg.Timeout = cmp.Or(cfg.Timeout, dialTimeout)
	cfg.Logger = &gosql.NopLogger{} // what it writes there, it returns too
	if cfg.MaxAllowedPacket == gosql.NewConfig().MaxAllowedPacket {
		cfg.MaxAllowedPacket = 0 // asks the server
	}
	preset := map[string]string{"sql_mode": strict}
	if cfg.Loc == time.UTC {
		preset["time_zone"] = utc
	}
	maps.Copy(preset, cfg.Params)
	cfg.Params = preset
}
