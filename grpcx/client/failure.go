package client

import (
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
)

// failed says which call an error is of.
type failed struct {
	method string
	id     string // "" where the caller's log has it anyway
	err    *xerror.Error
}

// Error names the method, and the request id where the call was given its own.
func (f *failed) Error() string {
	if f.id == "" {
		return f.method + ": " + f.err.Error()
	}
	return f.method + " as request " + f.id + ": " + f.err.Error()
}

// Unwrap returns the error without the call.
func (f *failed) Unwrap() error { return f.err }

// failure turns the error of a call into an *xerror.Error; nil, and a nil pointer of
// another's making, is no error.
func failure(method, id string, err error) error {
	if err == nil {
		return nil
	}
	e := rpcstatus.FromStatus(err)
	if e == nil {
		return nil
	}
	return xerror.From(&failed{method: method, id: id, err: e})
}
