package xhelper

import (
	"net/http"
	"runtime"

	"github.com/plinthgo/plinth/core/major/xresult"
)

// Status returns the status of the response. If nothing is written yet, and the last
// handler has returned or a deferred function runs because of a panic, that is the status
// which the client will receive, so that middleware counts and traces it: the response
// itself is written outside of all middleware. See TestServe_statusThatMiddlewareSees.
//
// It does not encode the error: one with data that cannot be encoded becomes
// SERIALIZE_ERROR later.
func (w *writer) Status() int {
	status := w.ResponseWriter.Status()
	ex := w.exchange
	if w.ResponseWriter.Written() || !ex.responds || ex.answered {
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
// has set, whatever error is pending.
func (w *writer) ChosenStatus() int { return w.ResponseWriter.Status() }

const (
	// maxDeferred is how many frames lie at most between a deferred function of a
	// middleware and the panic.
	maxDeferred = 24

	// nextFunction runs all middleware. A deferred function that runs because of a panic
	// lies above gopanic, and gopanic above this one.
	nextFunction = "github.com/gin-gonic/gin.(*Context).Next"
)

// panicking reports whether the caller runs in a deferred function because of a panic. It
// reads few frames at a time, since middleware that calls Status lies close to
// nextFunction.
func panicking() bool {
	var counters [4]uintptr
	for skip := 3; skip < maxDeferred; skip += len(counters) { // from the caller of Status
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
