package client

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

// pulse finds connections that died silently, while calls wait on them. The interval is
// above the 5 min below which servers of grpc-go take a ping for abuse, and below the 350
// s after which common load balancers forget a connection.
var pulse = keepalive.ClientParameters{Time: 330 * time.Second, Timeout: 20 * time.Second}

// reconnect begins with a shorter wait than grpc's 1 s, which would outlast all attempts
// of a call: they would fail although the server is back.
var reconnect = grpc.ConnectParams{
	Backoff: backoff.Config{
		BaseDelay: 100 * time.Millisecond, Multiplier: 1.6,
		Jitter: 0.2, MaxDelay: 10 * time.Second,
	},
	MinConnectTimeout: 20 * time.Second,
}

// dialOptions turns a configuration without problems into options of grpc-go, the user's
// own last.
func (c *config) dialOptions() []grpc.DialOption {
	calls := &courier{source: *c.source, timeout: c.timeout}
	list := []grpc.DialOption{
		grpc.WithTransportCredentials(c.transport()),
		grpc.WithKeepaliveParams(pulse),
		grpc.WithConnectParams(reconnect),
		grpc.WithChainUnaryInterceptor(calls.unary),
		grpc.WithChainStreamInterceptor(calls.stream),
	}
	if *c.source != "" {
		list = append(list, grpc.WithUserAgent(*c.source))
	}
	if c.application != nil {
		list = append(list, grpc.WithPerRPCCredentials(newApplication(c.application,
			c.plainSecret)))
	}
	if service := c.serviceConfig(); service != "" {
		list = append(list, grpc.WithDefaultServiceConfig(service))
	}
	switch {
	case c.retry == nil:
		list = append(list, grpc.WithDisableRetry())
	case c.retry.attempts > grpcAttempts:
		list = append(list, grpc.WithMaxCallAttempts(c.retry.attempts))
	}
	return append(list, c.dial...)
}

func (c *config) transport() credentials.TransportCredentials {
	if c.plaintext {
		return insecure.NewCredentials()
	}
	return credentials.NewTLS(c.tls) // nil stands for the system's roots
}
