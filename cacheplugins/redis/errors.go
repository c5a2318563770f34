package redis

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// clockSlack is how much earlier than the context a connection may reach the same
// deadline.
const clockSlack = time.Millisecond

// failed maps the error of a call with the context ctx: to ctx.Err() if ctx has ended, to
// an error of package driver, or to a failure.
func (s *store) failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if hidden := (*unknownOutcome)(nil); errors.As(err, &hidden) {
		err = hidden.cause
	}
	if wrongType(err) {
		return driver.ErrWrongType
	}
	if s.closed.Load() || errors.Is(err, redis.ErrClosed) {
		return driver.ErrClosed
	}
	if ctxErr := contextError(ctx, err); ctxErr != nil {
		return ctxErr
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		// Dial and network timeouts match the context errors but are not caused by the
		// caller's context.
		return &failure{text: messageOf(err)}
	}
	return &failure{text: messageOf(err), cause: err}
}

// contextError returns the context's error if it caused err. An error reply of a server
// is not caused by the context.
func contextError(ctx context.Context, err error) error {
	var reply redis.Error
	if errors.As(err, &reply) {
		return nil
	}
	if at, ok := ctx.Deadline(); ok && timedOut(err) && time.Until(at) <= clockSlack {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// failure is a server or connection error without the arguments of the command.
type failure struct {
	text  string
	cause error
}

// Error implements error.
func (e *failure) Error() string { return e.text }

// Unwrap returns the client's error.
func (e *failure) Unwrap() error { return e.cause }

// temporary contains the prefixes of temporary error replies. While slots migrate,
// servers of a cluster may redirect a client back and forth (MOVED, ASK).
var temporary = []string{
	"LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MOVED", "ASK", "NOREPLICAS",
	"BUSY", "ERR max number of clients",
}

// Is reports whether target is driver.ErrUnavailable and the error is temporary: a
// temporary error reply, or any error that is not a reply.
func (e *failure) Is(target error) bool {
	if target != driver.ErrUnavailable {
		return false
	}
	var reply redis.Error
	isPrefix := func(prefix string) bool { return strings.HasPrefix(reply.Error(), prefix) }
	return !errors.As(e.cause, &reply) || slices.ContainsFunc(temporary, isPrefix)
}

// missing reports whether the server replied nil. It does not unwrap, because a Sentinel
// error wraps nil if the master is unknown.
func missing(err error) bool { return err == redis.Nil } //nolint:errorlint // see above

// wrongType reports whether the key contains another kind of value. In the error of a
// script, WRONGTYPE is not the prefix.
func wrongType(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && strings.Contains(reply.Error(), "WRONGTYPE")
}

func timedOut(err error) bool {
	var n net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &n) && n.Timeout()
}

// messageOf returns the message of err on one line. It removes the arguments that a
// server repeats for an unknown command, because they contain keys and values.
func messageOf(err error) string {
	text, _, _ := strings.Cut(err.Error(), ", with args beginning with")
	text = strings.ReplaceAll(strings.TrimPrefix(text, "redis: "), "\n", "; ")
	if timedOut(err) {
		text = "timeout: " + text
	}
	return text
}

// openError maps the error of the first call. Permanent errors wrap driver.ErrConfig and
// name the variables to check.
func (s *store) openError(err error) error {
	keys := s.variablesFor(err)
	if keys == nil {
		return s.unreachable(err)
	}
	keys = slices.Clone(keys)
	for i, key := range keys {
		if s.set.URL != "" && replacedByURL[key] {
			keys[i] = xenv.NoSqlURL
		}
	}
	keys = slices.Compact(keys)
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = key.String()
	}
	return fmt.Errorf("%w: %w (%s)", driver.ErrConfig, err, strings.Join(names, ", "))
}

// unreachable adds the addresses to a temporary error if they are missing.
func (s *store) unreachable(err error) error {
	if errors.Is(err, io.EOF) && s.set.tls == nil {
		err = fmt.Errorf("%w: the server closed the connection; it may require TLS (%s)",
			err, xenv.NoSqlTLS)
	}
	for _, address := range s.set.addresses {
		if strings.Contains(err.Error(), address) {
			return err
		}
	}
	return fmt.Errorf("%s: %w", strings.Join(s.set.addresses, ", "), err)
}

// permanentReplies maps prefixes of permanent error replies to the variables to check.
var permanentReplies = []struct {
	text string
	keys []xenv.EnvKey
}{
	{"WRONGPASS", []xenv.EnvKey{xenv.NoSqlUser, xenv.NoSqlPass}},
	{"NOAUTH", []xenv.EnvKey{xenv.NoSqlUser, xenv.NoSqlPass}},
	{"ERR invalid password", []xenv.EnvKey{xenv.NoSqlPass}},
	{"ERR AUTH", []xenv.EnvKey{xenv.NoSqlPass}}, // the server has no password
	{"NOPERM", []xenv.EnvKey{xenv.NoSqlUser}},
	// protected mode: without a password the server accepts local clients only
	{"DENIED", []xenv.EnvKey{xenv.NoSqlPass}},
	{"ERR DB index", []xenv.EnvKey{xenv.NoSqlDatabase}},
	{"ERR invalid DB index", []xenv.EnvKey{xenv.NoSqlDatabase}},
	{"ERR SELECT", []xenv.EnvKey{xenv.NoSqlDatabase}}, // not allowed in a cluster
	{"ERR This instance has cluster support disabled", []xenv.EnvKey{modeKey}},
	{"ERR unknown command", []xenv.EnvKey{modeKey}}, // sent by Sentinel or another kind of server
}

// variablesFor returns the variables that may cause err, or nil if err is temporary.
func (s *store) variablesFor(err error) []xenv.EnvKey {
	var (
		reply     redis.Error
		record    tls.RecordHeaderError
		alert     tls.AlertError
		untrusted *tls.CertificateVerificationError
		misnamed  x509.HostnameError
	)
	switch {
	case errors.As(err, &misnamed):
		return []xenv.EnvKey{xenv.NoSqlTLS, xenv.NoSqlHost}
	case errors.As(err, &untrusted):
		return []xenv.EnvKey{xenv.NoSqlTLS, xenv.NoSqlTLSCA}
	case errors.As(err, &record), errors.As(err, &alert):
		return []xenv.EnvKey{xenv.NoSqlTLS}
	case !errors.As(err, &reply):
		return nil
	case reply == redis.Nil:
		return []xenv.EnvKey{masterKey}
	}
	for _, a := range permanentReplies {
		if strings.HasPrefix(reply.Error(), a.text) {
			return s.sentinelVariables(err, a.keys)
		}
	}
	return nil
}

// sentinelVariables replaces the variables if the error is from Sentinel.
func (s *store) sentinelVariables(err error, keys []xenv.EnvKey) []xenv.EnvKey {
	if !strings.Contains(err.Error(), "sentinel") || !slices.Contains(keys, xenv.NoSqlPass) {
		return keys
	}
	return []xenv.EnvKey{sentinelUserKey, sentinelPassKey}
}
