package xhelper_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhelper"
)

func TestAPanicIsAnInternalErrorAndItsStackIsLoggedOnce(t *testing.T) {
	for name, value := range map[string]any{
		"text": "secret text", "error": errors.New("secret error"),
		"our own error":                    xerror.New(xerror.NotFound, "secret data"),
		"a broken pipe of somebody else's": &net.OpError{Op: "write", Err: syscall.EPIPE},
	} {
		t.Run(name, func(t *testing.T) {
			engine, log := newEngine(t, xhelper.Config{})
			engine.GET("/", func(*gin.Context) { panic(value) })
			res, err := call(t, listen(t, engine), http.MethodGet, "/", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			id := res.header.Get("X-Request-UUID")
			want := fmt.Sprintf(
				`{"context":%q,"output":"SERVER_INTERNAL_ERROR","code":50000,"message":%q}`,
				id, xerror.ServerInternalError.GetMessage())
			if res.body != want || res.status != http.StatusInternalServerError {
				t.Errorf("got %d %s, want 500 %s", res.status, res.body, want)
			}
			lines := log.with(t, "panic")
			if len(lines) != 1 || lines[0]["level"] != "error" || lines[0]["request_id"] != id {
				t.Fatalf("logged %v, want one line at ERROR with the id", lines)
			}
			stack := fmt.Sprint(lines[0]["stack"])
			if got := culprit(stack); !strings.Contains(got, "TestAPanic") ||
				strings.Count(log.String(), "recovery_test.go") != 1 {
				t.Errorf("the panic comes from %q", got)
			}
			if got := log.with(t, "request"); len(got) != 1 || got[0]["status"] != 500.0 ||
				got[0]["error_code"] != 50000.0 {
				t.Errorf("access log = %v, want one line with 500", got)
			}
		})
	}
}

func TestARuntimePanicsStackBeginsWhereItHappened(t *testing.T) {
	engine, log := newEngine(t, xhelper.Config{})
	engine.GET("/", func(c *gin.Context) {
		var names []string
		c.String(http.StatusOK, names[len(c.Params)])
	})
	wantOutput(t, do(engine, http.MethodGet, "/"), http.StatusInternalServerError,
		"SERVER_INTERNAL_ERROR")
	lines := log.with(t, "panic")
	if len(lines) != 1 || !strings.Contains(fmt.Sprint(lines[0]["panic"]), "index out of range") {
		t.Fatalf("logged %v", lines)
	}
	if got := culprit(fmt.Sprint(lines[0]["stack"])); !strings.Contains(got, "TestARuntimePanic") {
		t.Errorf("the panic comes from %q", got)
	}
}

// culprit returns the function that panicked: that after the lines of panic itself.
func culprit(stack string) string {
	lines := strings.Split(stack, "\n")
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "panic(") {
		return stack
	}
	return lines[2]
}

func TestAPanicAfterABareStatusIsStillAnswered(t *testing.T) {
	engine, _ := newEngine(t, xhelper.Config{})
	engine.GET("/", func(c *gin.Context) {
		c.AbortWithStatus(http.StatusForbidden)
		panic("boom")
	})
	wantOutput(t, do(engine, http.MethodGet, "/"), http.StatusInternalServerError,
		"SERVER_INTERNAL_ERROR")
}

func TestAPanicInAnErrorsDataIsRecovered(t *testing.T) {
	engine, _ := newEngine(t, xhelper.Config{})
	engine.GET("/", func(c *gin.Context) {
		_ = c.Error(xerror.WrapData(xerror.NotFound, "", nil, explosive{}))
	})
	wantOutput(t, do(engine, http.MethodGet, "/"), http.StatusInternalServerError,
		"SERVER_INTERNAL_ERROR")
}

// explosive panics when it is encoded.
type explosive struct{}

func (explosive) MarshalJSON() ([]byte, error) { panic("boom") }

func TestAPanicAfterTheResponseHasStartedAbortsTheConnection(t *testing.T) {
	engine, log := newEngine(t, xhelper.Config{})
	const part = `{"partly":`
	engine.GET("/flushed", func(c *gin.Context) {
		c.String(http.StatusOK, part)
		c.Writer.Flush()
		panic("boom")
	})
	engine.GET("/buffered", func(c *gin.Context) {
		c.String(http.StatusOK, part)
		panic("boom")
	})
	s := listen(t, engine)
	for path, want := range map[string]string{"/flushed": part, "/buffered": ""} {
		res, err := call(t, s, http.MethodGet, path, http.NoBody)
		if err == nil || res.body != want {
			t.Errorf("%s: got %q and error %v; want %q and an error", path, res.body, err, want)
		}
	}
	s.Close()
	if got := log.with(t, "panic"); len(got) != 2 {
		t.Errorf("logged %v, want each panic once", got)
	}
	for _, line := range log.with(t, "request") {
		if line["error_message"] != "the connection was aborted" {
			t.Errorf("access log = %v, want it to say that the connection was aborted", line)
		}
	}
}

func TestErrAbortHandlerGoesThrough(t *testing.T) {
	engine, log := newEngine(t, xhelper.Config{})
	engine.GET("/", func(*gin.Context) { panic(http.ErrAbortHandler) })
	s := listen(t, engine)
	if res, err := call(t, s, http.MethodGet, "/", http.NoBody); err == nil {
		t.Errorf("got %q, want an error", res.body)
	}
	s.Close()
	if got := log.with(t, "panic"); len(got) != 0 {
		t.Errorf("logged %v, want no stack", got)
	}
	if got := log.with(t, "request"); len(got) != 1 || got[0]["status"] != 500.0 {
		t.Errorf("access log = %v, want one line", got)
	}
}

func TestAPanicBecauseTheClientHasGoneNeedsNoStack(t *testing.T) {
	entered, gone := make(chan struct{}), make(chan struct{})
	engine, log := newEngine(t, xhelper.Config{})
	engine.GET("/", func(c *gin.Context) {
		close(entered)
		<-c.Done()
		defer close(gone)
		panic(&net.OpError{Op: "write", Err: syscall.EPIPE})
	})
	s := listen(t, engine)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-entered
	_ = conn.Close()
	<-gone
	s.Close()
	if got := log.with(t, "panic"); len(got) != 0 {
		t.Errorf("logged %v, want no stack", got)
	}
	if got := log.with(t, "the client closed the connection"); len(got) != 1 {
		t.Errorf("logged %v, want one line", got)
	}
}

func TestGoexitEndsTheRequestAndIsLogged(t *testing.T) {
	engine, log := newEngine(t, xhelper.Config{})
	done := make(chan struct{})
	engine.GET("/", func(*gin.Context) { t.SkipNow() })
	go func() {
		defer close(done)
		do(engine, http.MethodGet, "/")
	}()
	<-done
	if got := log.with(t, "request"); len(got) != 1 || got[0]["status"] != 500.0 {
		t.Errorf("access log = %v, want one line with 500", got)
	}
}
