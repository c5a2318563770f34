package xhelper_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/major/xhelper"
)

// readers are handlers that read the body in different ways.
var readers = map[string]gin.HandlerFunc{
	"read": echo,
	"json": func(c *gin.Context) {
		if err := c.ShouldBindJSON(&struct{ Name string }{}); err != nil {
			_ = c.Error(fmt.Errorf("create: %w", err))
		}
	},
	"valid": func(c *gin.Context) {
		xvalid.HandleValidationError(c, c.ShouldBindJSON(&struct{ Name string }{}))
	},
	"file": func(c *gin.Context) {
		if _, err := c.FormFile("file"); err != nil {
			_ = c.Error(err)
		}
	},
	"form": func(c *gin.Context) {
		xvalid.HandleValidationError(c, c.ShouldBind(&struct{ Name string }{}))
	},
}

const (
	typeJSON  = "Content-Type: application/json\r\n"
	typeForm  = "Content-Type: multipart/form-data; boundary=frontier\r\n"
	halfJSON  = `{"name":"`
	formStart = "--frontier\r\n" +
		"Content-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n"
)

// truncated contains the end of the header and the start of the body for each reader.
var truncated = map[string]string{
	"read":  typeJSON + "Content-Length: 100\r\n\r\n" + halfJSON,
	"json":  typeJSON + "Content-Length: 100\r\n\r\n" + halfJSON,
	"valid": typeJSON + "Content-Length: 100\r\n\r\n" + halfJSON,
	"file":  typeForm + "Content-Length: 1000\r\n\r\n" + formStart + "half",
	"form":  typeForm + "Content-Length: 1000\r\n\r\n" + formStart + "half",
}

func bodyServer(t *testing.T, change func(*httptest.Server)) (*httptest.Server, *lines) {
	t.Helper()
	engine, log := newEngine(t, xhelper.Config{})
	for path, handler := range readers {
		engine.POST("/"+path, handler)
	}
	s := httptest.NewUnstartedServer(engine)
	change(s)
	s.Start()
	t.Cleanup(s.Close)
	return s, log
}

// post sends the start of a request and leaves the connection open.
func post(t *testing.T, s *httptest.Server, path, rest string) *net.TCPConn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, "POST /"+path+" HTTP/1.1\r\nHost: x\r\n"+rest); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

// waitAccessLine waits for the access log line, which is written after the response.
func (l *lines) waitAccessLine(t *testing.T) map[string]any {
	t.Helper()
	for start := time.Now(); time.Since(start) < 30*time.Second; <-time.After(time.Millisecond) {
		if found := l.with(t, "request"); len(found) > 0 {
			return found[0]
		}
	}
	t.Fatalf("no access line: %s", l)
	return nil
}

func TestServe_BodyErrors(t *testing.T) {
	for path := range readers {
		t.Run(path+" of a truncated body", func(t *testing.T) {
			s, _ := bodyServer(t, func(*httptest.Server) {})
			conn := post(t, s, path, truncated[path])
			_ = conn.CloseWrite()
			wantResponse(t, conn, http.StatusBadRequest, "BODY_ERROR")
		})
		t.Run(path+" of an invalid chunk", func(t *testing.T) {
			s, _ := bodyServer(t, func(*httptest.Server) {})
			head, _, _ := strings.Cut(truncated[path], "Content-Length")
			wantResponse(t, post(t, s, path, head+"Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n"),
				http.StatusBadRequest, "BODY_ERROR")
		})
		t.Run(path+" of a slow client", func(t *testing.T) {
			s, _ := bodyServer(t,
				func(s *httptest.Server) { s.Config.ReadTimeout = 100 * time.Millisecond })
			wantResponse(t, post(t, s, path, truncated[path]), http.StatusRequestTimeout,
				"READ_TIMEOUT")
		})
		t.Run(path+" of a client that disconnected", func(t *testing.T) {
			s, log := bodyServer(t, func(*httptest.Server) {})
			conn := post(t, s, path, truncated[path])
			_ = conn.SetLinger(0) // send a reset
			_ = conn.Close()
			line := log.waitAccessLine(t)
			if line["error_code"] != 40007.0 || line["level"] != "info" {
				t.Errorf("access line %v, want CANCELED at INFO", line)
			}
			if text := log.String(); strings.Contains(text, `"level":"error"`) ||
				strings.Contains(text, `"level":"warn"`) {
				t.Errorf("logged %s", text)
			}
		})
	}
	for _, path := range []string{"file", "form"} {
		t.Run(path+" without the closing delimiter", func(t *testing.T) {
			s, _ := bodyServer(t, func(*httptest.Server) {})
			text := formStart + "half"
			rest := typeForm + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text)
			wantResponse(t, post(t, s, path, rest), http.StatusBadRequest, "BODY_ERROR")
		})
	}
}

func wantResponse(t *testing.T, conn io.Reader, status int, output string) {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	got, err := readResponse(res)
	if err != nil || got.status != status || decode(t, got.body)["output"] != output {
		t.Errorf("got %d %s, %v; want %d %s", got.status, got.body, err, status, output)
	}
}

func TestServe_BodyErrors_HTTP2(t *testing.T) {
	engine, log := newEngine(t, xhelper.Config{})
	reading := make(chan struct{})
	engine.POST("/read", func(c *gin.Context) {
		close(reading)
		echo(c)
	})
	s := httptest.NewUnstartedServer(engine)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	ctx, cancel := context.WithCancel(t.Context())
	body, half := io.Pipe()
	t.Cleanup(func() { _ = half.Close() })
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/read", body)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-reading
		cancel()
	}()
	if res, err := s.Client().Do(req); err == nil {
		_ = res.Body.Close()
		t.Fatal("Do succeeded, want a canceled request")
	}
	if line := log.waitAccessLine(t); line["error_code"] != 40007.0 || line["level"] != "info" {
		t.Errorf("access line %v, want CANCELED at INFO", line)
	}
}

func TestServe_Form(t *testing.T) {
	t.Run("accepts a body in chunks of any size", func(t *testing.T) {
		engine, _ := newEngine(t, xhelper.Config{})
		engine.POST("/", func(c *gin.Context) {
			file, err := c.FormFile("file")
			if err != nil {
				_ = c.Error(err)
				return
			}
			c.String(http.StatusOK, "%d", file.Size)
		})
		whole := formStart + strings.Repeat("-", 5000) + "\r\n--frontier--\r\nepilogue"
		for name, body := range map[string]io.Reader{
			"whole":   strings.NewReader(whole),
			"halves":  iotest.HalfReader(strings.NewReader(whole)),
			"bytes":   iotest.OneByteReader(strings.NewReader(whole)),
			"dataEOF": iotest.DataErrReader(strings.NewReader(whole)),
		} {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body)
			req.ContentLength = int64(len(whole))
			w := send(engine, req, "Content-Type", "multipart/form-data; boundary=frontier")
			if w.Code != http.StatusOK || w.Body.String() != "5000" {
				t.Errorf("%s: got %d %s", name, w.Code, w.Body)
			}
		}
	})

	t.Run("accepts a long epilogue", func(t *testing.T) {
		engine, _ := newEngine(t, xhelper.Config{})
		engine.POST("/", func(c *gin.Context) {
			n, err := io.Copy(io.Discard, c.Request.Body)
			if err != nil {
				_ = c.Error(err)
				return
			}
			c.String(http.StatusOK, "%d", n)
		})
		whole := formStart + "\r\n--frontier--\r\n" + strings.Repeat("epilogue ", 10_000)
		for name, body := range map[string]io.Reader{
			"whole": strings.NewReader(whole),
			"bytes": iotest.OneByteReader(strings.NewReader(whole)),
		} {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body)
			req.ContentLength = int64(len(whole))
			w := send(engine, req, "Content-Type", "multipart/form-data; boundary=frontier")
			if w.Code != http.StatusOK || w.Body.String() != strconv.Itoa(len(whole)) {
				t.Errorf("%s: got %d %s", name, w.Code, w.Body)
			}
		}
	})
}
