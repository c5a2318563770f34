package redis

import (
	"cmp"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// The bounds of a call. It may wait for a connection to come free, then for a new one,
// and has the rest for the server.
const (
	callTimeout = 5 * time.Second
	poolTimeout = 3 * time.Second
	dialTimeout = 2 * time.Second

	// stateAge is how old the knowledge of who has which slots may be. A server that is
	// gone tells nobody of its successor.
	stateAge = time.Second

	// idleTime is below what firewalls and services leave a connection open for without a
	// word.
	idleTime = 5 * time.Minute
)

// options returns what the client is made of. On a new connection it sends HELLO, with
// the password, and SELECT for another database than 0; nothing that a server of version
// 6.2 or one of another make would not know.
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
		// the client waits for it after the last attempt too
		DialerRetryTimeout:    time.Millisecond,
		ReadTimeout:           callTimeout,
		WriteTimeout:          callTimeout,
		ContextTimeoutEnabled: true,
		MaxRetries:            -1, // a command whose answer is lost may have been done
		PoolSize:              cmp.Or(c.PoolSize, defaultPoolSize),
		PoolTimeout:           poolTimeout,
		ConnMaxIdleTime:       idleTime,
		DisableIdentity:       true, // no CLIENT SETINFO
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled, // no CLIENT MAINT_NOTIFICATIONS
		},
	}
}

// connect returns a client, which connects when it is used.
func connect(o *redis.UniversalOptions) redis.UniversalClient {
	if !o.IsClusterMode {
		return redis.NewUniversalClient(o)
	}
	c := o.Cluster()
	c.ClusterStateReloadInterval = stateAge
	// they ask each server for all its commands, and spread some that we send to one
	c.DisableRoutingPolicies = true
	client := redis.NewClusterClient(c)
	client.OnNewNode(func(node *redis.Client) { node.AddHook(once{}) })
	return client
}
