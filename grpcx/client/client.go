// Package client connects a service to other services.
//
// Dial is grpc.NewClient with what a service of Plinth expects of its calls: they carry
// the request id, the name of the caller, the user's language and the deadline; their
// errors are *xerror.Error; those that are safe to repeat are repeated; and they are
// encrypted unless somebody says otherwise.
//
// A connection is safe for concurrent use. One for each target serves the whole process.
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
// connects with the first call, so a server that is down is no error here.
//
// The error names every problem of the configuration at once.
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

// DialOptions returns what Dial gives to grpc.NewClient, for those who call that
// themselves.
//
// Environment and linked protocol buffers are read now: APP_NAME, and the methods that
// may be repeated.
func DialOptions(options ...Option) ([]grpc.DialOption, error) {
	c := newConfig()
	var problems []error
	for i, option := range options {
		if option == nil {
			problems = append(problems,
				fmt.Errorf("grpcx/client: option %d is nil: leave it out", i+1))
			continue
		}
		option(c)
	}
	c.complete()
	if err := errors.Join(append(problems, c.check())...); err != nil {
		return nil, err
	}
	return c.dialOptions(), nil
}

// FromError returns the failure of a call as an *xerror.Error, for clients that were not
// made by Dial. Nil stays nil.
//
// The status is its cause, so status.Code and errors.Is see what they saw before. io.EOF,
// the end of a stream, is no failure: ask for it first.
func FromError(err error) *xerror.Error { return rpcstatus.FromStatus(err) }

// RequestID returns the id under which a failed call was made, for a report to whoever
// runs the service: that of the service's answer, or the one that Dial's connection gave
// to a call without. It is "" where err tells of none.
func RequestID(err error) string {
	if id := rpcstatus.RequestID(err); id != "" {
		return id
	}
	var f *failed
	if errors.As(err, &f) {
		return f.id
	}
	return ""
}

func checkTarget(target string) error {
	switch {
	case strings.TrimSpace(target) == "":
		return errors.New("grpcx/client: the target is empty: give the address of the service, as host:port")
	case strings.HasPrefix(target, "http://"), strings.HasPrefix(target, "https://"):
		return errors.New("grpcx/client: the target is a URL: give host:port alone; WithPlaintext and WithTLS say how to connect")
	default:
		return nil
	}
}
