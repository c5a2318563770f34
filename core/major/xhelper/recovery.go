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
	"github.com/plinthgo/plinth/core/major/xresult"
)

// recovered deals with a panic, and reports whether the connection must be aborted.
func (t *turn) recovered(v any) (abort bool) {
	if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares the same way
		return true
	}
	t.report(v)
	t.c.Abort()
	if t.writer.committed() {
		return true
	}
	t.c.Writer = &t.writer
	t.writer.release()
	t.uncode()
	xresult.Fail(t.c, xerror.New(xerror.ServerInternalError, ""))
	return false
}

// report writes the one line about a panic. A client that has closed its connection is no fault of
// the service's, and needs no stack; another connection's failure is told apart by the request's context.
func (t *turn) report(v any) {
	t.request.Report()
	err, _ := v.(error)
	broken := errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
	if broken && t.c.Request.Context().Err() != nil {
		t.server.Log.Info(&t.request, "the client closed the connection", slog.Any("error", err))
		return
	}
	t.server.Log.Error(&t.request, "panic", slog.String("panic", fmt.Sprint(v)), slog.String("stack", stack()))
}

// stack returns the calls that led to the panic that is being recovered, innermost first.
func stack() string {
	text := string(debug.Stack())
	if at := strings.Index(text, "\npanic("); at >= 0 { // what comes before is the recovery
		return text[at+1:]
	}
	return text
}
