package xhelper

import (
	"net/http"
	"runtime"

	xResult "github.com/plinthgo/plinth/core/major/xresult"
)

// Status returns the status of the response. If the handlers have returned, or a middleware of them runs
// while one panics, and nothing is written yet, that is the status which the client will receive, so that
// middleware counts and traces it: the response itself is written outside of all middleware. See
// TestServe_statusThatMiddlewareSees.
func (w *writer) Status() int {
	status := w.ResponseWriter.Status()
	if w.ResponseWriter.Written() || w.exchange.parts&partRespond == 0 || w.exchange.answered {
		return status
	}
	ex := w.exchange
	if !finished(ex.c) {
		if ex.parts&partRecovery != 0 && panicking() {
			return http.StatusInternalServerError
		}
		return status
	}
	status, err := ex.outcome()
	if err == nil {
		return status
	}
	return xResult.StatusOf(ex.c, status, err)
}

// ChosenStatus returns the status that a handler has set, whatever error is pending.
func (w *writer) ChosenStatus() int { return w.ResponseWriter.Status() }

// maxDeferred is how many frames lie at most between a deferred function of a middleware and the panic.
const maxDeferred = 24

// panicking reports whether the caller runs in a deferred function because of a panic.
func panicking() bool {
	var counters [maxDeferred]uintptr
	for _, pc := range counters[:runtime.Callers(3, counters[:])] { //nolint:mnd // the callers of Status
		if f := runtime.FuncForPC(pc - 1); f != nil && f.Name() == "runtime.gopanic" {
			return true
		}
	}
	return false
}
