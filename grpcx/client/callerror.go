package client

import (
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
)

// callError adds the method and the request ID to the error of a call.
type callError struct {
	method string
	id     string // "" if the caller's log contains it
	err    *xerror.Error
}

// Error returns the error with the method and, if the client generated it, the request
// ID.
func (f *callError) Error() string {
	if f.id == "" {
		return f.method + ": " + f.err.Error()
	}
	return f.method + " (request " + f.id + "): " + f.err.Error()
}

// Unwrap returns the error of the call.
func (f *callError) Unwrap() error { return f.err }

// wrapError converts the error of a call to an *xerror.Error. A nil pointer is no error.
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
