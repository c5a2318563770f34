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

// clockSlack is how much earlier than the context a connection may see the same deadline.
const clockSlack = time.Millisecond

// failed returns the error of a call, whose context is ctx: the context's where it has
// ended, or one of package driver, or one with the text of the client's.
func (s *store) failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if hidden := (*lost)(nil); errors.As(err, &hidden) {
		err = hidden.cause
	}
	if wrongType(err) {
		return driver.ErrWrongType
	}
	if s.closed.Load() || errors.Is(err, redis.ErrClosed) {
		return driver.ErrClosed
	}
	if ended := end(ctx, err); ended != nil {
		return ended
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		// not of the caller's context: those of dialing, and the errors of package net
		// for it
		return &failure{text: textOf(err)}
	}
	return &failure{text: textOf(err), cause: err}
}

// end returns the context's error where a call has failed because of it: not where a
// server has answered.
func end(ctx context.Context, err error) error {
	var answer redis.Error
	if errors.As(err, &answer) {
		return nil
	}
	if at, ok := ctx.Deadline(); ok && timedOut(err) && time.Until(at) <= clockSlack {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// failure is an error of the server or of the way to it, without the words of a command.
type failure struct {
	text  string
	cause error
}

// Error implements error.
func (e *failure) Error() string { return e.text }

// Unwrap returns the client's error.
func (e *failure) Unwrap() error { return e.cause }

// passing are the answers of a server that cannot serve just now. Where slots have just
// moved, servers of a cluster may send a client to and fro (MOVED, ASK) until all have
// heard of it.
var passing = []string{
	"LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MOVED", "ASK", "NOREPLICAS",
	"BUSY", "ERR max number of clients",
}

// Is reports whether the error is driver.ErrUnavailable: every one that is no answer of a
// server, and those that pass.
func (e *failure) Is(target error) bool {
	if target != driver.ErrUnavailable {
		return false
	}
	var answer redis.Error
	return !errors.As(e.cause, &answer) ||
		slices.ContainsFunc(passing,
			func(begin string) bool { return strings.HasPrefix(answer.Error(), begin) })
}

// missing reports whether the server has answered that there is nothing. An error that
// only wraps such an answer is another one: sentinels give it where they do not know the
// master.
func missing(err error) bool { return err == redis.Nil } //nolint:errorlint // see above

// wrongType reports whether the server has answered that the key holds another kind of
// value. Within the error of a script the word is not the first.
func wrongType(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer) && strings.Contains(answer.Error(), "WRONGTYPE")
}

func timedOut(err error) bool {
	var n net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &n) && n.Timeout()
}

// textOf is an error on one line. Where a server does not know a command it repeats the
// words, which are keys and values.
func textOf(err error) string {
	text, _, _ := strings.Cut(err.Error(), ", with args beginning with")
	text = strings.ReplaceAll(strings.TrimPrefix(text, "redis: "), "\n", "; ")
	if timedOut(err) {
		text = "no answer in time: " + text
	}
	return text
}

// opened returns the error of Open for one of the first call. It wraps driver.ErrConfig
// where waiting does not help, and then names the variables to look at.
func (s *store) opened(err error) error {
	keys := s.blame(err)
	if keys == nil {
		return s.unreached(err)
	}
	keys = slices.Clone(keys)
	for i, key := range keys {
		if s.set.URL != "" && replaced[key] {
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

// unreached returns an error that may pass, with the addresses where it does not say
// them.
func (s *store) unreached(err error) error {
	if errors.Is(err, io.EOF) && s.set.tls == nil {
		err = fmt.Errorf("%w: the server has closed the connection, as one does that wants TLS (%s)", err, xenv.NoSqlTLS)
	}
	for _, address := range s.set.addresses {
		if strings.Contains(err.Error(), address) {
			return err
		}
	}
	return fmt.Errorf("%s: %w", strings.Join(s.set.addresses, ", "), err)
}

// answers are the beginnings of errors that a server goes on giving, and what they are
// about.
var answers = []struct {
	text string
	keys []xenv.EnvKey
}{
	{"WRONGPASS", []xenv.EnvKey{xenv.NoSqlUser, xenv.NoSqlPass}},
	{"NOAUTH", []xenv.EnvKey{xenv.NoSqlUser, xenv.NoSqlPass}},
	{"ERR invalid password", []xenv.EnvKey{xenv.NoSqlPass}},
	{"ERR AUTH", []xenv.EnvKey{xenv.NoSqlPass}}, // there is no password
	{"NOPERM", []xenv.EnvKey{xenv.NoSqlUser}},
	// a server without a password speaks to its own machine only
	{"DENIED", []xenv.EnvKey{xenv.NoSqlPass}},
	{"ERR DB index", []xenv.EnvKey{xenv.NoSqlDatabase}},
	{"ERR invalid DB index", []xenv.EnvKey{xenv.NoSqlDatabase}},
	{"ERR SELECT", []xenv.EnvKey{xenv.NoSqlDatabase}}, // not allowed in a cluster
	{"ERR This instance has cluster support disabled", []xenv.EnvKey{modeKey}},
	{"ERR unknown command", []xenv.EnvKey{modeKey}}, // of sentinels, or of a server that is none
}

// blame returns the variables that an error is about, nil where it may pass.
func (s *store) blame(err error) []xenv.EnvKey {
	var (
		answer    redis.Error
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
	case !errors.As(err, &answer):
		return nil
	case answer == redis.Nil:
		return []xenv.EnvKey{masterKey}
	}
	for _, a := range answers {
		if strings.HasPrefix(answer.Error(), a.text) {
			return s.ofSentinel(err, a.keys)
		}
	}
	return nil
}

// ofSentinel returns the variables for the sentinels where the answer was one of theirs.
func (s *store) ofSentinel(err error, keys []xenv.EnvKey) []xenv.EnvKey {
	if !strings.Contains(err.Error(), "sentinel") || !slices.Contains(keys, xenv.NoSqlPass) {
		return keys
	}
	return []xenv.EnvKey{sentinelUserKey, sentinelPassKey}
}
