// Package redis registers the "redis" cache backend, based on go-redis. It supports a
// single server, Sentinel and Redis Cluster.
//
//	import _ "github.com/plinthgo/plinth/cacheplugins/redis"
//
// It reads NOSQL_URL, or NOSQL_MODE (single), NOSQL_HOST (localhost), NOSQL_PORT (6379;
// 26379 for Sentinel), NOSQL_USER, NOSQL_PASS, NOSQL_DATABASE (0) and NOSQL_MASTER. It
// also reads NOSQL_SENTINEL_USER, NOSQL_SENTINEL_PASS, NOSQL_TLS (disable), NOSQL_TLS_CA
// and NOSQL_POOL_SIZE (10, for each server of a cluster). Valid URLs are
//
//	redis://[[user]:password@]host[:port][/database]
//	unix://[[user]:password@]/path/of/the/socket[?db=database]
//	redis+sentinel://[[user]:password@]host[:port][,host[:port]...]/master[/database]
//	redis+cluster://[[user]:password@]host[:port][,host[:port]...]
//
// and rediss, rediss+sentinel and rediss+cluster for TLS. TLS verifies certificates
// unless NOSQL_TLS is "require". More hosts can be added with ?addr=host:port, and the
// password of the sentinels with ?sentinel_password=.
//
// # Timeouts
//
// A call returns at the deadline of its context, when the context is canceled, or after 5
// seconds, even if the server does not respond. Commands are not retried: if the reply is
// lost, the command may have been executed, and a second push is worse than an error.
// MOVED and ASK redirects of a cluster are followed. Batches on a cluster (GetMany,
// SetMany and Delete of several keys) may be retried, because they are idempotent.
//
// # Errors
//
// Open wraps driver.ErrConfig if a retry cannot succeed, such as with a wrong password, a
// missing database or an untrusted certificate. Errors never contain a password, a key or
// a value.
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

// Open implements driver.Driver. It pings the server.
func (Driver) Open(ctx context.Context, c driver.Config) (driver.Store, error) {
	set, err := parse(c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", driver.ErrConfig, err)
	}
	s := newStore(set)
	if err := s.connect(ctx); err != nil {
		_ = s.Close() // the first error is the relevant one
		return nil, err
	}
	return s, nil
}
