package redis

import (
	"cmp"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Timeouts of a call. A call may wait for a pooled connection, then for a new one, and
// uses the remaining time for the server.
const (
	callTimeout = 5 * time.Second
	poolTimeout = 3 * time.Second
	dialTimeout = 2 * time.Second

	// stateAge is the maximum age of the cluster state. A failed server does not redirect
	// to its successor.
	stateAge = time.Second

	// idleTime is shorter than the idle timeouts of common firewalls and services.
	idleTime = 5 * time.Minute
)

// options returns the options of the client. On a new connection it sends only HELLO with
// the password and SELECT, for compatibility with Redis 6.2 and other servers.
func (c *settings) options(calls *calls) *redis.UniversalOptions {
	return &redis.UniversalOptions{
		Addrs:            c.addresses,
		MasterName:       c.Master,
		IsClusterMode:    c.Mode == modeCluster,
		DB:               c.Database,
		Username:         c.User,
		Password:         c.Pass,
		SentinelUsername: c.SentinelUser,
		SentinelPassword: c.SentinelPass,
		Dialer:           dialer{tls: c.tls, calls: calls}.dial,
		DialTimeout:      dialTimeout,
		DialerRetries:    1,
		// the client also waits after the last attempt
		DialerRetryTimeout:    time.Millisecond,
		ReadTimeout:           callTimeout,
		WriteTimeout:          callTimeout,
		ContextTimeoutEnabled: true,
		MaxRetries:            -1, // a command whose reply is lost may have been executed
		PoolSize:              cmp.Or(c.PoolSize, defaultPoolSize),
		PoolTimeout:           poolTimeout,
		ConnMaxIdleTime:       idleTime,
		DisableIdentity:       true, // no CLIENT SETINFO
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled, // no CLIENT MAINT_NOTIFICATIONS
		},
	}
}

// newClient returns a client, which connects when it is used.
func newClient(o *redis.UniversalOptions) redis.UniversalClient {
	if !o.IsClusterMode {
		return redis.NewUniversalClient(o)
	}
	c := o.Cluster()
	c.ClusterStateReloadInterval = stateAge
	// routing policies query the commands of each server and split some commands
	c.DisableRoutingPolicies = true
	client := redis.NewClusterClient(c)
	client.OnNewNode(func(node *redis.Client) { node.AddHook(once{}) })
	return client
}
