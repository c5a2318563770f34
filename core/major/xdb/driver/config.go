package driver

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Config is the connection in parts, as DATABASE_* gives them. Each driver reads the parts that it knows.
//
// However it is printed, Pass is masked.
type Config struct {
	Host        string
	Port        int // 0 is the driver's usual port
	User        string
	Pass        string
	Name        string
	Path        string // sqlite: file, or :memory:
	Charset     string // mysql
	Timezone    string // postgres
	ServiceName string // oracle
	LibDir      string // oracle: accepted and ignored
	TLS         string // TLSDisable, TLSRequire or TLSVerifyFull; "" is TLSDisable
	TLSCA       string // file of PEM certificates that TLSVerifyFull trusts; "" is those of the system
}

// String returns the parts that are set, the password masked.
func (c Config) String() string {
	var b strings.Builder
	for _, part := range []struct{ name, value string }{
		{"host", c.Host},
		{"port", number(c.Port)},
		{"user", c.User},
		{"pass", masked(c.Pass)},
		{"name", c.Name},
		{"path", c.Path},
		{"charset", c.Charset},
		{"timezone", c.Timezone},
		{"service", c.ServiceName},
		{"lib_dir", c.LibDir},
		{"tls", c.TLS},
		{"tls_ca", c.TLSCA},
	} {
		if part.value == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%q", part.name, part.value)
	}
	return "{" + b.String() + "}"
}

// Format implements fmt.Formatter, so that no verb prints the password.
func (c Config) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, c.String()) }

// LogValue implements slog.LogValuer.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText implements encoding.TextMarshaler, so that JSON holds no password either.
func (c Config) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func masked(secret string) string {
	if secret == "" {
		return ""
	}
	return "***"
}

// Missing returns one error with a line for each variable whose value is empty, or nil. Drivers use it to
// report every missing part at once:
//
//	err := driver.Missing(map[xenv.EnvKey]string{xenv.DatabaseUser: c.User, xenv.DatabaseName: c.Name})
func Missing(parts map[xenv.EnvKey]string) error {
	var problems []error
	for _, v := range xenv.Table() { // its order, so that the lines do not change places
		if value, asked := parts[v.Key]; asked && value == "" {
			problems = append(problems, xenv.Problem(v.Key, "", "is not set", ""))
		}
	}
	return errors.Join(problems...)
}
