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

	// caParam is a parameter that Plinth adds to the DSN: the path in DATABASE_TLS_CA.
	caParam = "tls-ca"

	// dialTimeout limits dialing, and calls without a context such as gorm's version
	// query.
	dialTimeout = 5 * time.Second

	// strictMode makes the server reject a value that does not fit its column. Zero dates
	// remain allowed, because the zero time.Time is stored as one.
	strictMode = "CONCAT('STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'," +
		"IF(FIND_IN_SET('ONLY_FULL_GROUP_BY',@@sql_mode),',ONLY_FULL_GROUP_BY',''))"
	utc = "'+00:00'"
)

// charset matches valid character set names. The library does not quote the name in SET
// NAMES.
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
	return dsn, checkRoundTrip(cfg, dsn)
}

// setAddress sets the network and the address.
func setAddress(cfg *gosql.Config, c driver.Config) error {
	host, port, err := c.Address(defaultPort)
	cfg.Net, cfg.Addr = "tcp", net.JoinHostPort(host, port)
	if strings.HasPrefix(host, "/") {
		cfg.Net, cfg.Addr = "unix", host
	}
	return err
}

// setCharset also enables client-side parameter interpolation, which saves a round trip
// and a packet. Interpolation is safe in UTF-8 only, because no byte of a multibyte
// character is a quote or a backslash.
func setCharset(cfg *gosql.Config, s xenv.Source) error {
	vars, err := xenv.Load[settings](s)
	if err != nil {
		return err
	}
	name := vars.Charset
	if !charset.MatchString(name) {
		return xenv.Problem(charsetKey, name, "is not a character set name",
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
				"requires a host name, but "+string(xenv.DatabaseHost)+" is a socket",
				driver.TLSDisable+", "+driver.TLSRequire)
		}
		cfg.TLSConfig = "true"
		if c.TLSCA != "" {
			cfg.Params = map[string]string{caParam: c.TLSCA}
		}
	}
	return nil
}

// checkRoundTrip returns an error if the DSN cannot represent the user or the host. The
// DSN format has no escapes for them.
func checkRoundTrip(cfg *gosql.Config, dsn string) error {
	got, err := gosql.ParseDSN(dsn)
	if err != nil {
		got = &gosql.Config{User: cfg.User} // only an invalid host causes a parse error
	}
	switch {
	case got.User != cfg.User:
		return xenv.Problem(xenv.DatabaseUser, cfg.User,
			"contains a colon, which the DSN format cannot represent", "")
	case got.Addr != cfg.Addr || got.Net != cfg.Net:
		return xenv.Problem(xenv.DatabaseHost, cfg.Addr, "is not a valid host",
			"a host name, an address or the path of a socket")
	default:
		return nil
	}
}

// parse parses a DSN and sets the parameters that gorm and xdb rely on.
func parse(dsn string) (cfg *gosql.Config, err error) {
	defer func() {
		if p := recover(); p != nil { // the library panics if the DSN has the parameter strict
			err = fmt.Errorf("mysql: parse DSN: unsupported parameter: %v", p)
		}
	}()
	if cfg, err = gosql.ParseDSN(dsn); err != nil {
		return nil, redact(err)
	}
	if err := loadCA(cfg); err != nil {
		return nil, err
	}
	setDefaults(cfg)
	// Otherwise MySQL rounds stored times, and a condition with the original time matches
	// no row.
	if !strings.Contains(dsn, "timeTruncate=") {
		err = cfg.Apply(gosql.TimeTruncate(time.Microsecond))
	}
	return cfg, err
}

// redact returns the library's error only if it cannot contain a part of a password.
func redact(err error) error {
	for _, prefix := range []string{
		"invalid DSN: ", "invalid bool value: ",
		"invalid value / unknown config name: ",
	} {
		if strings.HasPrefix(err.Error(), prefix) {
			return fmt.Errorf("mysql: parse DSN: %w", err)
		}
	}
	return errors.New("mysql: parse DSN: want user:password@tcp(host:port)/name?parameter=value")
}

// loadCA loads the certificates of the parameter tls-ca.
func loadCA(cfg *gosql.Config) error {
	file, ok := cfg.Params[caParam]
	if !ok {
		return nil
	}
	delete(cfg.Params, caParam)
	if cfg.TLSConfig != "true" {
		return fmt.Errorf("mysql: parse DSN: parameter %s requires tls=true", caParam)
	}
	var err error
	cfg.TLS, err = driver.TLSConfig(driver.TLSVerifyFull, file, cfg.TLS.ServerName)
	return err
}

// setDefaults sets parameters that the DSN does not contain. With ClientFoundRows, an
// update that changes no value still counts its row; otherwise an optimistic lock would
// report a conflict.
func setDefaults(cfg *gosql.Config) {
	cfg.ParseTime, cfg.ClientFoundRows = true, true
	cfg.Timeout = cmp.Or(cfg.Timeout, dialTimeout)
	cfg.Logger = &gosql.NopLogger{} // the library returns the same errors
	if cfg.MaxAllowedPacket == gosql.NewConfig().MaxAllowedPacket {
		cfg.MaxAllowedPacket = 0 // use the server's value
	}
	preset := map[string]string{"sql_mode": strictMode}
	if cfg.Loc == time.UTC {
		preset["time_zone"] = utc
	}
	maps.Copy(preset, cfg.Params)
	cfg.Params = preset
}
