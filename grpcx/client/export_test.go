package client

import "google.golang.org/grpc"

// Interceptors returns the ones of a connection, for measuring them by themselves.
func Interceptors(source string) (grpc.UnaryClientInterceptor, grpc.StreamClientInterceptor) {
	c := &courier{source: source, timeout: defaultTimeout}
	return c.unary, c.stream
}

// Credentials returns what WithApplication adds to a connection.
func Credentials(accessID, secretKey string) any {
	c := newConfig()
	WithApplication(accessID, secretKey)(c)
	return newApplication(c.application, false)
}
