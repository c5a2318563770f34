package client

import "google.golang.org/grpc"

// Interceptors returns the interceptors of a connection.
func Interceptors(source string) (grpc.UnaryClientInterceptor, grpc.StreamClientInterceptor) {
	c := &outgoing{source: source, timeout: defaultTimeout}
	return c.unary, c.stream
}

// Credentials returns the per-RPC credentials of WithApplication.
func Credentials(accessID, secretKey string) any {
	c := newConfig()
	WithApplication(accessID, secretKey)(c)
	return newApplication(c.application, false)
}
