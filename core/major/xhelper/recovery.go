package xhelper

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strconv"
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
		t.log.Info(&t.request, "the client closed the connection", slog.Any("error", err))
		return
	}
	t.log.Error(&t.request, "panic", slog.String("panic", text(v)), slog.String("stack", stack()))
}

// text returns what was passed to panic.
func text(v any) string { return fmt.Sprint(v) }

// maxFrames is the depth to which a stack is logged.
const maxFrames = 64

// stack returns the calls that led to the panic that is being recovered, innermost first.
func stack() string {
	counters := make([]uintptr, maxFrames)
	frames := runtime.CallersFrames(counters[:runtime.Callers(0, counters)])
	var b strings.Builder
	panicked := false
	for {
		frame, more := frames.Next()
		switch {
		case frame.Function == "runtime.gopanic":
			b.Reset() // what came so far is the recovery
			panicked = true
		case panicked && b.Len() == 0 && strings.HasPrefix(frame.Function, "runtime."):
			// How the runtime came to panic: sigpanic, goPanicIndex.
		default:
			b.WriteString(frame.Function + "\n\t" + frame.File + ":" + strconv.Itoa(frame.Line) + "\n")
		}
		if !more {
			return b.String()
		}
	}
}
