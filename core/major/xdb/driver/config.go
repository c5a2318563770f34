package driver

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Config is the connection in parts, as set by the DATABASE_* variables that all server
// drivers share. Package xdb validates each value against its variable.
//
// Every formatting method masks Pass and omits Source.
type Config struct {
	Host  string `env:"DATABASE_HOST" default:"localhost" doc:"Host of the database server."`
	Port  int    `env:"DATABASE_PORT" max:"65535" doc:"Port of the database server; the default depends on the driver."`
	User  string `env:"DATABASE_USER" doc:"User."`
	Pass  string `env:"DATABASE_PASS" secret:"true" doc:"Password."`
	Name  string `env:"DATABASE_NAME" doc:"Name of the database."`
	TLS   string `env:"DATABASE_TLS" default:"disable" oneof:"disable require verify-full" doc:"Encryption of the connection: disable uses plain text, require encrypts without verifying the server, verify-full also verifies its certificate and host name."`
	TLSCA string `env:"DATABASE_TLS_CA" doc:"File with the PEM certificates that verify-full trusts; default: the system certificates."`

	// Source provides the variables that only one driver reads, see xenv.Load. If Source
	// is nil, these variables are not set.
	Source xenv.Source
}

// String returns the parts with the password masked.
func (c Config) String() string {
	type plain Config // without this method
	if c.Source = nil; c.Pass != "" {
		c.Pass = "***"
	}
	return fmt.Sprintf("%+v", plain(c))
}

// Format implements fmt.Formatter, so that every verb masks the password.
func (c Config) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, c.String()) }

// LogValue implements slog.LogValuer.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText implements encoding.TextMarshaler, so that JSON masks the password.
func (c Config) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Address returns the host without the brackets of an IPv6 address (default localhost),
// and the port (default defaultPort). The error names DATABASE_PORT if the port is out of
// range.
func (c Config) Address(defaultPort int) (host, port string, err error) {
	host = strings.Trim(cmp.Or(c.Host, "localhost"), "[]")
	if c.Port < 0 || c.Port > math.MaxUint16 {
		return "", "", xenv.Problem(xenv.DatabasePort, strconv.Itoa(c.Port), "is not a valid port",
			"1 to 65535")
	}
	return host, strconv.Itoa(cmp.Or(c.Port, defaultPort)), nil
}

// Advice returns a warning if the connection to another host is unencrypted and the TLS
// mode is not set.
func (c Config) Advice() []string {
	if c.TLS != "" || local(c.Host) {
		return nil
	}
	return []string{fmt.Sprintf(
		"the connection to %s is not encrypted: set %s to %s or %s, or to %s if that is intended",
		c.Host, xenv.DatabaseTLS, TLSVerifyFull, TLSRequire, TLSDisable)}
}

// local reports whether host is this machine: localhost, a loopback address or the
// directory of a Unix socket.
func local(host string) bool {
	if host == "" || host == "localhost" || strings.HasPrefix(host, "/") ||
		strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}

// Missing returns one error with a line for each variable whose value is empty, or nil.
// Drivers use it to report every missing part at once:
//
//	err := driver.Missing(map[xenv.EnvKey]string{
//		xenv.DatabaseUser: c.User, xenv.DatabaseName: c.Name,
//	})
func Missing(parts map[xenv.EnvKey]string) error {
	var problems []error
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		if parts[key] == "" {
			problems = append(problems, xenv.Problem(key, "", "is not set", ""))
		}
	}
	return errors.Join(problems...)
}
