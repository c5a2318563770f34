// Package redis registers the "redis" cache backend, over go-redis: one server, servers
// behind Sentinel, or a cluster.
//
//	import _ "github.com/plinthgo/plinth/cacheplugins/redis"
//
// It reads NOSQL_URL, or else NOSQL_MODE (single), NOSQL_HOST (localhost), NOSQL_PORT
// (6379; 26379 of sentinels where it is 0), NOSQL_USER, NOSQL_PASS, NOSQL_DATABASE (0)
// and NOSQL_MASTER; and NOSQL_SENTINEL_USER, NOSQL_SENTINEL_PASS, NOSQL_TLS (disable),
// NOSQL_TLS_CA and NOSQL_POOL_SIZE (10, for each server of a cluster). The forms of a URL
// are
//
//	redis://[[user]:password@]host[:port][/database]
//	unix://[[user]:password@]/path/of/the/socket[?db=database]
//	redis+sentinel://[[user]:password@]host[:port][,host[:port]...]/master[/database]
//	redis+cluster://[[user]:password@]host[:port][,host[:port]...]
//
// and rediss, rediss+sentinel and rediss+cluster for TLS, with checked certificates
// unless NOSQL_TLS says "require". Hosts may also follow as ?addr=host:port, and the
// sentinels' own password as ?sentinel_password=.
//
// # How long a call takes
//
// A call ends with its context, whatever the server does: at its deadline, and at once
// where it is cancelled. Without a deadline, or with a later one, it ends after 5
// seconds. A command is sent once. When its answer is lost nobody knows whether it was
// done, so it is not sent again: pushing twice is worse than an error. What the servers
// of a cluster refuse, since another one has the key, goes on to that one. The exception
// are the batches on a cluster (GetMany, SetMany and Delete of several keys), which
// change nothing by being sent twice.
//
// # Errors
//
// Open wraps driver.ErrConfig where waiting does not help: a wrong password, a database
// that there is not, a certificate that is not trusted. No error holds a password, a key
// or a value.
package redis

import (
	"context"
	"fmt"

	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Name is the value of NOSQL_DRIVER that selects this backend.
const Name = "redis"

func init() { xcache.Register(Driver{}) }

// Driver implements driver.Driver. The zero value is ready to use.
type Driver struct{}

// Name implements driver.Driver.
func (Driver) Name() string { return Name }

// InterfaceVersion implements driver.Versioned.
func (Driver) InterfaceVersion() int { return 1 }

// Check implements driver.Driver.
func (Driver) Check(c driver.Config) error {
	_, err := parse(c)
	return err
}

// Open implements driver.Driver. It asks the server for an answer.
func (Driver) Open(ctx context.Context, c driver.Config) (driver.Store, error) {
	set, err := parse(c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", driver.ErrConfig, err)
	}
	s := newStore(set)
	if err := s.ask(ctx); err != nil {
		_ = s.Close() // the first error says what is wrong
		return nil, err
	}
	return s, nil
}
