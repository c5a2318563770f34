package client

import (
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
)

// callError adds the method and the request ID to the error of a call.
type callError struct {
	method string
	id     string // set only if the client generated it
	err    *xerror.Error
}

// Error returns the error with the method and, if the client generated it, the request
// ID.
func (e *callError) Error() string {
	if e.id == "" {
		return e.method + ": " + e.err.Error()
	}
	return e.method + " (request " + e.id + "): " + e.err.Error()
}

// Unwrap returns the error of the call.
func (e *callError) Unwrap() error { return e.err }

// wrapError converts the error of a call to an *xerror.Error. It returns nil if err is
// nil or a nil pointer.
func wrapError(method, id string, err error) error {
	if err == nil {
		return nil
	}
	e := rpcstatus.FromStatus(err)
	if e == nil {
		return nil
	}
	return xerror.From(&callError{method: method, id: id, err: e})
}
