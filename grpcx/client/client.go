// Package client connects a service to other services.
//
// Dial is grpc.NewClient with the conventions of Plinth services. Calls carry the request
// ID, the caller's name, the user's language and the deadline. Errors are *xerror.Error.
// Idempotent calls are retried. Connections use TLS by default.
//
// A connection is safe for concurrent use. A process needs one connection per target.
package client

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
)

// Dial returns a connection to target, such as "users:1119" or "dns:///users:1119". It
// connects on the first call, so Dial succeeds even if the server is down.
//
// If the configuration is invalid, the error reports all problems.
func Dial(target string, options ...Option) (*grpc.ClientConn, error) {
	dial, err := DialOptions(options...)
	if err = errors.Join(checkTarget(target), err); err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient(target, dial...)
	if err != nil {
		return nil, fmt.Errorf("grpcx/client: %w", err)
	}
	return conn, nil
}

// DialOptions returns the options that Dial passes to grpc.NewClient, for callers that
// create the connection themselves.
//
// It reads APP_NAME and the idempotent methods of the linked protocol buffers when it is
// called.
func DialOptions(options ...Option) ([]grpc.DialOption, error) {
	c := newConfig()
	var problems []error
	for i, option := range options {
		if option == nil {
			problems = append(problems,
				fmt.Errorf("grpcx/client: option %d is nil: remove it", i+1))
			continue
		}
		option(c)
	}
	c.setDefaults()
	if err := errors.Join(append(problems, c.check())...); err != nil {
		return nil, err
	}
	return c.dialOptions(), nil
}

// FromError converts the error of a call to an *xerror.Error, for connections that Dial
// did not create. It returns nil if err is nil.
//
// The result wraps err, so status.Code and errors.Is still work. Check for io.EOF, the
// end of a stream, before the conversion.
func FromError(err error) *xerror.Error { return rpcstatus.FromStatus(err) }

// RequestID returns the request ID of a failed call, for an error report. It is the ID in
// the server's status, or else the ID that the connection generated for a call without
// one. It returns "" if err contains no ID.
func RequestID(err error) string {
	if id := rpcstatus.RequestID(err); id != "" {
		return id
	}
	var e *callError
	if errors.As(err, &e) {
		return e.id
	}
	return ""
}

func checkTarget(target string) error {
	switch {
	case strings.TrimSpace(target) == "":
		return errors.New("grpcx/client: the target is empty: " +
			"use the address of the service as host:port")
	case strings.HasPrefix(target, "http://"), strings.HasPrefix(target, "https://"):
		return errors.New("grpcx/client: the target is a URL: use host:port; " +
			"WithPlaintext and WithTLS select the transport security")
	default:
		return nil
	}
}
