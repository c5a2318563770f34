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

// handlePanic handles a recovered panic and reports whether the connection must be
// aborted.
func (ex *exchange) handlePanic(v any) (abort bool) {
	if v == http.ErrAbortHandler { //nolint:errorlint // as in net/http
		return true
	}
	ex.logPanic(v)
	ex.c.Abort()
	if ex.writer.committed() {
		return true
	}
	ex.fail(0, xerror.New(xerror.ServerInternalError, ""))
	return false
}

// logPanic logs a panic once. If the client closed the connection, it logs no error and
// no stack. The request's context distinguishes this from a failure of another
// connection.
func (ex *exchange) logPanic(v any) {
	ex.request.Report()
	err, _ := v.(error)
	broken := errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
	if broken && ex.c.Request.Context().Err() != nil {
		ex.server.Log.Info(&ex.request, "client closed connection", slog.Any("error", err))
		return
	}
	_, calls, _ := strings.Cut(string(debug.Stack()), "\npanic(") // omit the frames of the recovery
	ex.server.Log.Error(&ex.request, "panic",
		slog.String("panic", fmt.Sprint(v)), slog.String("stack", "panic("+calls))
}
