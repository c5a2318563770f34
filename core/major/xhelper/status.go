package xhelper

import (
	"net/http"
	"runtime"

	"github.com/plinthgo/plinth/core/major/xresult"
)

// Status returns the status of the response. If the last handler returned or panicked
// before the response was written, Status returns the status that the client will
// receive. This lets middleware count and trace it, although the response is written
// outside all middleware. See TestServe_MiddlewareStatus.
//
// Status does not encode the error. If its data cannot be encoded, the response is
// SERIALIZE_ERROR instead.
func (w *writer) Status() int {
	status := w.ResponseWriter.Status()
	ex := w.exchange
	if w.ResponseWriter.Written() || !ex.responds || ex.responded {
		return status
	}
	if ex.served && panicking() {
		return http.StatusInternalServerError
	}
	if !finished(ex.c) {
		return status
	}
	status, err := ex.outcome()
	if err == nil {
		return status
	}
	return xresult.StatusOf(ex.c, status, err)
}

// ChosenStatus implements an interface of xresult. It returns the status that a handler
// set, even if an error is pending.
func (w *writer) ChosenStatus() int { return w.ResponseWriter.Status() }

const (
	// maxDeferred is the maximum number of frames between a deferred function of a
	// middleware and the panic.
	maxDeferred = 24

	// nextFunction calls all middleware. During a panic, the stack contains nextFunction,
	// then gopanic, then the deferred function.
	nextFunction = "github.com/gin-gonic/gin.(*Context).Next"
)

// panicking reports whether the caller runs in a deferred function during a panic. It
// reads few frames at a time, because middleware that calls Status is close to
// nextFunction.
func panicking() bool {
	var counters [4]uintptr
	for skip := 3; skip < maxDeferred; skip += len(counters) { // starts at the caller of Status
		n := runtime.Callers(skip, counters[:])
		for _, pc := range counters[:n] {
			switch runtime.FuncForPC(pc - 1).Name() { // a nil *runtime.Func has the name ""
			case "runtime.gopanic":
				return true
			case nextFunction:
				return false
			}
		}
	}
	return false
}
