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

func TestServe_Panic(t *testing.T) {
	t.Run("responds with 500 and logs the stack once", func(t *testing.T) {
		for name, value := range map[string]any{
			"text":                                "secret text",
			"error":                               errors.New("secret error"),
			"an error with a code":                xerror.New(xerror.NotFound, "secret data"),
			"a broken pipe of another connection": &net.OpError{Op: "write", Err: syscall.EPIPE},
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
				if got := panicSource(stack); !strings.Contains(got, "TestServe_Panic") ||
					strings.Count(log.String(), "recovery_test.go") != 1 {
					t.Errorf("panic source = %q", got)
				}
				if got := log.with(t, "request"); len(got) != 1 || got[0]["status"] != 500.0 ||
					got[0]["error_code"] != 50000.0 {
					t.Errorf("access log = %v, want one line with 500", got)
				}
			})
		}
	})

	t.Run("logs the stack of a runtime panic", func(t *testing.T) {
		engine, log := newEngine(t, xhelper.Config{})
		engine.GET("/", func(c *gin.Context) {
			var names []string
			c.String(http.StatusOK, names[len(c.Params)])
		})
		wantOutput(t, do(engine, http.MethodGet, "/"), http.StatusInternalServerError,
			"SERVER_INTERNAL_ERROR")
		lines := log.with(t, "panic")
		if len(lines) != 1 ||
			!strings.Contains(fmt.Sprint(lines[0]["panic"]), "index out of range") {
			t.Fatalf("logged %v", lines)
		}
		got := panicSource(fmt.Sprint(lines[0]["stack"]))
		if !strings.Contains(got, "TestServe_Panic") {
			t.Errorf("panic source = %q", got)
		}
	})

	t.Run("responds with 500 after a bare status", func(t *testing.T) {
		engine, _ := newEngine(t, xhelper.Config{})
		engine.GET("/", func(c *gin.Context) {
			c.AbortWithStatus(http.StatusForbidden)
			panic("boom")
		})
		wantOutput(t, do(engine, http.MethodGet, "/"), http.StatusInternalServerError,
			"SERVER_INTERNAL_ERROR")
	})

	t.Run("recovers a panic in the data of an error", func(t *testing.T) {
		engine, _ := newEngine(t, xhelper.Config{})
		engine.GET("/", func(c *gin.Context) {
			_ = c.Error(xerror.WrapData(xerror.NotFound, "", nil, panickingData{}))
		})
		wantOutput(t, do(engine, http.MethodGet, "/"), http.StatusInternalServerError,
			"SERVER_INTERNAL_ERROR")
	})

	t.Run("aborts the connection if the response has started", func(t *testing.T) {
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
			if line["error_message"] != "connection aborted" {
				t.Errorf("access log = %v, want connection aborted", line)
			}
		}
	})

	t.Run("does not recover http.ErrAbortHandler", func(t *testing.T) {
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
	})

	t.Run("logs no stack if the client closed the connection", func(t *testing.T) {
		entered, panicked := make(chan struct{}), make(chan struct{})
		engine, log := newEngine(t, xhelper.Config{})
		engine.GET("/", func(c *gin.Context) {
			close(entered)
			<-c.Done()
			defer close(panicked)
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
		<-panicked
		s.Close()
		if got := log.with(t, "panic"); len(got) != 0 {
			t.Errorf("logged %v, want no stack", got)
		}
		if got := log.with(t, "client closed connection"); len(got) != 1 {
			t.Errorf("logged %v, want one line", got)
		}
	})
}

// panicSource returns the line of a stack that names the function that panicked.
func panicSource(stack string) string {
	lines := strings.Split(stack, "\n")
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "panic(") {
		return stack
	}
	return lines[2]
}

type panickingData struct{}

func (panickingData) MarshalJSON() ([]byte, error) { panic("boom") }

func TestServe_Goexit(t *testing.T) {
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
