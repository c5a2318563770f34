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

// The values of Config.TLS and of EMAIL_TLS.
const (
	tlsNone     = "none"
	tlsStartTLS = "starttls"
	tlsImplicit = "tls"
)

// Config says how mail is sent. Host, Port and From are needed, all else has a default
// where it is zero.
//
// However it is printed, by itself or as an exported field, Pass is left out. fmt calls
// no method of what stands in an unexported field, so a program that keeps a Config in
// one shows the password when it prints that with %v: keep the client.
type Config struct {
	Host     string
	Port     int
	User     string // "" is no login
	Pass     string
	From     string // the sender's address, also of the envelope
	FromName string

	// TLS is one of three modes, none of which falls back to another one; "" is
	// "starttls".
	//
	//   - "starttls" begins in plain text and encrypts with STARTTLS before anything else
	//     is said; a server without it is refused.
	//   - "tls" encrypts from the first byte, usually at port 465.
	//   - "none" sends in plain text. A login is then only allowed on the same machine.
	TLS string

	// RootCAs are the certificates that are trusted; nil is those of the system.
	RootCAs *x509.CertPool
	// LocalName is what the client calls itself in EHLO; "" is the name of the machine.
	LocalName string
	// Language is that of templates, where neither the message nor the request has one;
	// "" is "en".
	Language string

	// DialTimeout bounds connecting, and the handshake of TLS "tls"; 0 is 10 s.
	DialTimeout time.Duration
	// CommandTimeout bounds the greeting and the answer to each command; 0 is 30 s.
	CommandTimeout time.Duration
	// DataTimeout bounds a message's content up to the server's answer; 0 is 2 min.
	DataTimeout time.Duration
	// IdleTimeout is how long a connection waits for the next message; 0 is 30 s.
	IdleTimeout time.Duration

	// Connections is how many are open at the same time; 0 is 4.
	Connections int
	// Tries is how often a message is tried that the server refuses for the moment (4xx);
	// 0 is 3.
	Tries int
	// Backoff is the wait between tries; nil is 500 ms, then twice as long each time, at
	// most 30 s, spread by a fifth.
	Backoff backoff.Policy
	// MaxRecipients bounds To, Cc and Bcc together; 0 is 100, which every server takes
	// (RFC 5321).
	MaxRecipients int
	// MaxSize bounds a message as it is sent, in bytes; 0 is 25 MiB. Attachments grow by
	// a third.
	MaxSize int
}

// ConfigFromEnv returns what EMAIL_* say. The error has one line for each variable that
// is missing or wrong.
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

// String returns what names the server and the sender.
func (c Config) String() string {
	return fmt.Sprintf("{host=%q port=%d user=%q from=%q from_name=%q tls=%q}",
		c.Host, c.Port, c.User, c.From, c.FromName, c.TLS)
}

// Format implements fmt.Formatter, so that no verb prints the password.
func (c Config) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, c.String()) }

// LogValue implements slog.LogValuer.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText implements encoding.TextMarshaler, so that JSON holds no password either.
func (c Config) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// withDefaults fills in what is zero.
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

// machineName is the host's own name where EHLO can carry it.
func machineName() string {
	name, err := os.Hostname()
	if err != nil || !isHostName(name) {
		return "localhost"
	}
	return name
}

// isHostName reports whether EHLO can carry s: a domain name, or an address literal.
func isHostName(s string) bool {
	return s != "" && len(s) <= 255 && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune(
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_[]:", r)
	})
}

// check returns every problem, each with the variable that it comes from.
func (c Config) check() error {
	problems := []error{c.checkServer(), c.checkLogin(), c.checkSender()}
	for _, bound := range []struct {
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
		if bound.value < 0 {
			problems = append(problems, fmt.Errorf("configuration: %s is negative", bound.name))
		}
	}
	if c.LocalName != "" && !isHostName(c.LocalName) {
		problems = append(problems, errors.New("configuration: LocalName is no name of a host"))
	}
	return errors.Join(problems...)
}

func (c Config) checkServer() error {
	var problems []error
	if c.Host == "" || strings.ContainsFunc(c.Host, unprintable) ||
		strings.ContainsAny(c.Host, " /@") {
		problem := "is no name of a host"
		if c.Host == "" {
			problem = "is missing"
		}
		problems = append(problems,
			xenv.Problem(hostKey, c.Host, problem, "the name or the address of the mail server"))
	}
	if c.Port < 1 || c.Port > math.MaxUint16 {
		problems = append(problems,
			xenv.Problem(portKey, strconv.Itoa(c.Port), "is no port", "1 to 65535"))
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
			xenv.Problem(tlsKey, c.TLS, "would send the password in plain text to another machine",
				tlsStartTLS+" or "+tlsImplicit+", or no "+string(userKey)))
	}
	for key, value := range map[xenv.EnvKey]string{userKey: c.User, passKey: c.Pass} {
		if strings.ContainsAny(value, "\r\n\x00") {
			problems = append(problems,
				xenv.Problem(key, "", "has a line break or a zero byte in it", ""))
		}
	}
	return errors.Join(problems...)
}

func (c Config) checkSender() error {
	if c.From == "" {
		return xenv.Problem(fromKey, "", "is missing", "the address of the sender")
	}
	var problems []error
	from, err := parseAddress(c.From)
	switch {
	case err != nil:
		problems = append(problems,
			xenv.Problem(fromKey, c.From, err.Error(), "the address of the sender"))
	case from.Name != "" && c.FromName != "":
		problems = append(problems,
			xenv.Problem(fromKey, c.From, "has a name, and so has "+string(fromNameKey), ""))
	}
	if err := checkName(c.FromName); err != nil {
		problems = append(problems, xenv.Problem(fromNameKey, c.FromName, err.Error(), ""))
	}
	return errors.Join(problems...)
}

// sender returns the checked configuration's From and FromName.
func (c Config) sender() *mail.Address {
	from, err := parseAddress(c.From)
	if err != nil {
		return &mail.Address{} // check has refused it
	}
	from.Name = cmp.Or(from.Name, oneSpace(c.FromName))
	return from
}

// isLoopback reports whether a host is this machine. Before a login in plain text the
// connection is asked too.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}
