package email

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/mail"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plinthgo/plinth/asyncx/backoff"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Values of Config.TLS and EMAIL_TLS.
const (
	tlsNone     = "none"
	tlsStartTLS = "starttls"
	tlsImplicit = "tls"
)

// Config configures a client. Host, Port and From are required; other fields have
// defaults.
//
// Formatting a Config does not print Pass, directly or as an exported field. fmt cannot
// call methods of unexported fields: a struct with a Config in an unexported field prints
// the password with %v. Store the client instead.
type Config struct {
	Host     string
	Port     int
	User     string // empty disables authentication
	Pass     string
	From     string // sender address, also of the envelope
	FromName string

	// TLS is the encryption mode. The default is "starttls". No mode falls back to
	// another.
	//
	//   - "starttls" encrypts with STARTTLS before any other command, and rejects a
	//     server without it.
	//   - "tls" encrypts from the first byte, usually on port 465.
	//   - "none" does not encrypt. Authentication then requires a loopback connection.
	TLS string

	// RootCAs are the trusted certificate authorities; nil uses those of the system.
	RootCAs *x509.CertPool
	// LocalName is the host name in EHLO; the default is the name of the host.
	LocalName string
	// Language is the language of templates if neither message nor request has one; the
	// default is "en".
	Language string

	// DialTimeout limits connecting and the handshake of mode "tls"; the default is 10 s.
	DialTimeout time.Duration
	// CommandTimeout limits the greeting and the reply to each command; the default is
	// 30 s.
	CommandTimeout time.Duration
	// DataTimeout limits sending the content and the reply to it; the default is 2 min.
	DataTimeout time.Duration
	// IdleTimeout is the maximum idle time of a connection; the default is 30 s.
	IdleTimeout time.Duration

	// Connections is the maximum number of open connections; the default is 4.
	Connections int
	// Tries is the number of attempts for a message that gets temporary failures (4xx);
	// the default is 3.
	Tries int
	// Backoff is the delay between attempts. The default starts at 500 ms and doubles up
	// to 30 s, with 20 % jitter.
	Backoff backoff.Policy
	// MaxRecipients limits To, Cc and Bcc together; the default is 100, which every
	// server must accept (RFC 5321).
	MaxRecipients int
	// MaxSize limits an encoded message in bytes; the default is 25 MiB. Encoding
	// increases attachments by a third.
	MaxSize int
}

// ConfigFromEnv returns the configuration of the EMAIL_* variables. The error has one
// line per invalid variable.
func ConfigFromEnv() (Config, error) {
	v, problems := xenv.Load[variables](xenv.Environment())
	c := Config{
		Host: v.Host, Port: v.Port, User: v.User, Pass: v.Pass, From: v.From,
		FromName: v.FromName, TLS: v.TLS,
	}
	if err := errors.Join(problems, c.check()); err != nil {
		return Config{}, fmt.Errorf("email: %w", err)
	}
	return c, nil
}

// String describes the server and the sender.
func (c Config) String() string {
	return fmt.Sprintf("{host=%q port=%d user=%q from=%q from_name=%q tls=%q}",
		c.Host, c.Port, c.User, c.From, c.FromName, c.TLS)
}

// Format implements fmt.Formatter. No verb prints the password.
func (c Config) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, c.String()) }

// LogValue implements slog.LogValuer.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText implements encoding.TextMarshaler. JSON does not contain the password.
func (c Config) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// withDefaults sets the defaults of zero fields.
func (c Config) withDefaults() Config {
	c.TLS = cmp.Or(c.TLS, tlsStartTLS)
	c.Host = strings.TrimSuffix(strings.TrimPrefix(c.Host, "["), "]")
	c.Language = cmp.Or(c.Language, "en")
	c.DialTimeout = cmp.Or(c.DialTimeout, 10*time.Second)
	c.CommandTimeout = cmp.Or(c.CommandTimeout, 30*time.Second)
	c.DataTimeout = cmp.Or(c.DataTimeout, 2*time.Minute)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 30*time.Second)
	c.Connections = cmp.Or(c.Connections, 4)
	c.Tries = cmp.Or(c.Tries, 3)
	c.MaxRecipients = cmp.Or(c.MaxRecipients, 100)
	c.MaxSize = cmp.Or(c.MaxSize, 25<<20)
	if c.LocalName == "" {
		c.LocalName = machineName()
	}
	if c.Backoff == nil {
		c.Backoff = backoff.Jitter(backoff.Exponential(500*time.Millisecond, 30*time.Second), 0.2)
	}
	return c
}

// machineName returns the host name if it is valid in EHLO, else "localhost".
func machineName() string {
	name, err := os.Hostname()
	if err != nil || !isHostName(name) {
		return "localhost"
	}
	return name
}

// isHostName reports whether s is valid in EHLO: a domain name or an address literal.
func isHostName(s string) bool {
	return s != "" && len(s) <= 255 && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune(
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_[]:", r)
	})
}

// check returns every problem with the variable that causes it.
func (c Config) check() error {
	problems := []error{c.checkServer(), c.checkLogin(), c.checkSender()}
	for _, limit := range []struct {
		name  string
		value int64
	}{
		{"DialTimeout", int64(c.DialTimeout)},
		{"CommandTimeout", int64(c.CommandTimeout)},
		{"DataTimeout", int64(c.DataTimeout)},
		{"IdleTimeout", int64(c.IdleTimeout)},
		{"Connections", int64(c.Connections)},
		{"Tries", int64(c.Tries)},
		{"MaxRecipients", int64(c.MaxRecipients)},
		{"MaxSize", int64(c.MaxSize)},
	} {
		if limit.value < 0 {
			problems = append(problems, fmt.Errorf("configuration: %s is negative", limit.name))
		}
	}
	if c.LocalName != "" && !isHostName(c.LocalName) {
		problems = append(problems, errors.New("configuration: LocalName is not a host name"))
	}
	return errors.Join(problems...)
}

func (c Config) checkServer() error {
	var problems []error
	if c.Host == "" || strings.ContainsFunc(c.Host, unprintable) ||
		strings.ContainsAny(c.Host, " /@") {
		problem := "is not a host name"
		if c.Host == "" {
			problem = "is missing"
		}
		problems = append(problems,
			xenv.Problem(hostKey, c.Host, problem, "host name or address of the mail server"))
	}
	if c.Port < 1 || c.Port > math.MaxUint16 {
		problems = append(problems,
			xenv.Problem(portKey, strconv.Itoa(c.Port), "is not a port", "1 to 65535"))
	}
	if modes := []string{"", tlsNone, tlsStartTLS, tlsImplicit}; !slices.Contains(modes, c.TLS) {
		problems = append(problems,
			xenv.Problem(tlsKey, c.TLS, "is not one of the values", strings.Join(modes[1:], ", ")))
	}
	return errors.Join(problems...)
}

func (c Config) checkLogin() error {
	var problems []error
	if c.User != "" && c.Pass == "" {
		problems = append(problems,
			xenv.Problem(passKey, "", "is missing, although "+string(userKey)+" is set", ""))
	}
	if c.User == "" && c.Pass != "" {
		problems = append(problems,
			xenv.Problem(userKey, "", "is missing, although "+string(passKey)+" is set", ""))
	}
	if c.TLS == tlsNone && c.User != "" && !isLoopback(c.Host) {
		problems = append(problems,
			xenv.Problem(tlsKey, c.TLS, "sends the password unencrypted to a remote host",
				tlsStartTLS+" or "+tlsImplicit+", or no "+string(userKey)))
	}
	for key, value := range map[xenv.EnvKey]string{userKey: c.User, passKey: c.Pass} {
		if strings.ContainsAny(value, "\r\n\x00") {
			problems = append(problems,
				xenv.Problem(key, "", "contains a line break or a zero byte", ""))
		}
	}
	return errors.Join(problems...)
}

func (c Config) checkSender() error {
	if c.From == "" {
		return xenv.Problem(fromKey, "", "is missing", "a sender address")
	}
	var problems []error
	from, err := parseAddress(c.From)
	switch {
	case err != nil:
		problems = append(problems,
			xenv.Problem(fromKey, c.From, err.Error(), "a sender address"))
	case from.Name != "" && c.FromName != "":
		problems = append(problems,
			xenv.Problem(fromKey, c.From, "has a name, but "+string(fromNameKey)+" is set", ""))
	}
	if err := checkName(c.FromName); err != nil {
		problems = append(problems, xenv.Problem(fromNameKey, c.FromName, err.Error(), ""))
	}
	return errors.Join(problems...)
}

// sender returns From and FromName of a validated configuration.
func (c Config) sender() *mail.Address {
	from, err := parseAddress(c.From)
	if err != nil {
		return &mail.Address{} // check rejected it
	}
	from.Name = cmp.Or(from.Name, collapseSpaces(c.FromName))
	return from
}

// isLoopback reports whether host is the local machine. A login without TLS also checks
// the remote address of the connection.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}
