package client

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

// keepaliveParams detect broken connections during calls. The interval is above 5 min,
// the minimum that grpc-go servers accept, and below 350 s, the idle timeout of common
// load balancers.
var keepaliveParams = keepalive.ClientParameters{Time: 330 * time.Second, Timeout: 20 * time.Second}

// connectParams reconnect after 100 ms. The retries of a call take less than grpc's
// default of 1 s, so the call would fail although the server is available again.
var connectParams = grpc.ConnectParams{
	Backoff: backoff.Config{
		BaseDelay: 100 * time.Millisecond, Multiplier: 1.6,
		Jitter: 0.2, MaxDelay: 10 * time.Second,
	},
	MinConnectTimeout: 20 * time.Second,
}

// dialOptions converts a valid configuration to options of grpc-go. The options of the
// user are last.
func (c *config) dialOptions() []grpc.DialOption {
	calls := &outgoing{source: *c.source, timeout: c.timeout}
	list := []grpc.DialOption{
		grpc.WithTransportCredentials(c.transport()),
		grpc.WithKeepaliveParams(keepaliveParams),
		grpc.WithConnectParams(connectParams),
		grpc.WithChainUnaryInterceptor(calls.unary),
		grpc.WithChainStreamInterceptor(calls.stream),
	}
	if *c.source != "" {
		list = append(list, grpc.WithUserAgent(*c.source))
	}
	if c.application != nil {
		list = append(list,
			grpc.WithPerRPCCredentials(newApplication(c.application, c.plaintextSecrets)))
	}
	if text := c.serviceConfig(); text != "" {
		list = append(list, grpc.WithDefaultServiceConfig(text))
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
	return credentials.NewTLS(c.tls) // nil selects the system's roots
}
