package xhelper

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// recovered deals with a panic, and reports whether the connection must be aborted.
func (ex *exchange) recovered(v any) (abort bool) {
	if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares the same way
		return true
	}
	ex.report(v)
	ex.c.Abort()
	if ex.writer.committed() {
		return true
	}
	ex.fail(0, xerror.New(xerror.ServerInternalError, ""))
	return false
}

// report writes the one line about a panic. A client that has closed its connection is no
// fault of the service's, and needs no stack; another connection's failure is told apart
// by the request's context.
func (ex *exchange) report(v any) {
	ex.request.Report()
	err, _ := v.(error)
	broken := errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
	if broken && ex.c.Request.Context().Err() != nil {
		ex.server.Log.Info(&ex.request, "the client closed the connection", slog.Any("error", err))
		return
	}
	_, calls, _ := strings.Cut(string(debug.Stack()), "\npanic(") // after the recovery itself
	ex.server.Log.Error(&ex.request, "panic",
		slog.String("panic", fmt.Sprint(v)), slog.String("stack", "panic("+calls))
}
