package alldrivers_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xhelper"
	_ "github.com/plinthgo/plinth/dbplugins/mysql"
	_ "github.com/plinthgo/plinth/dbplugins/oracle"
	_ "github.com/plinthgo/plinth/dbplugins/postgres"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
	_ "github.com/plinthgo/plinth/dbplugins/sqlserver"
)

func TestDrivers(t *testing.T) {
	want := []string{"mysql", "oracle", "postgres", "sqlite", "sqlserver"}
	if got := xdb.Drivers(); !slices.Equal(got, want) {
		t.Fatalf("drivers = %v, want %v", got, want)
	}
}

// errOf returns the error of a call.
func errOf[T any](_ T, err error) error { return err }

// readError returns the read error for a connection that the server closes or resets.
func readError(t *testing.T, reset bool) error {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	served, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if reset {
		_ = served.(*net.TCPConn).SetLinger(0)
	}
	_ = served.Close()
	_, err = io.ReadFull(conn, make([]byte, 1))
	return err
}

// unreachable returns an address without a listening server.
func unreachable(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// TestFrom_OtherLibraries expects the codes of a program without a driver; see the table
// of xerror.
func TestFrom_OtherLibraries(t *testing.T) {
	address := unreachable(t)
	for name, tc := range map[string]struct {
		err  error
		want *xerror.ErrorCode
	}{
		"end of file": {readError(t, false), xerror.ServerInternalError},
		"reset":       {readError(t, true), xerror.NetworkError},
		"truncated JSON": {
			json.NewDecoder(strings.NewReader(`{"a":`)).Decode(new(any)),
			xerror.ServerInternalError,
		},
		"closed connection":    {fmt.Errorf("x: %w", net.ErrClosed), xerror.NetworkError},
		"unreachable upstream": {errOf(http.Get("http://" + address)), xerror.RemoteError}, //nolint:bodyclose,noctx // it fails
		"unreachable server": {
			errOf(new(net.Dialer).DialContext(t.Context(), "tcp", address)),
			xerror.ServiceUnavailable,
		},
		"unknown host": {
			&net.DNSError{Err: "no such host", Name: "elsewhere"},
			xerror.NetworkError,
		},
		"deadline of the upstream": {context.DeadlineExceeded, xerror.GatewayTimeout},
		"no record":                {gorm.ErrRecordNotFound, xerror.RecordNotFound},
	} {
		for _, err := range []error{
			tc.err, fmt.Errorf("wrapped: %w", tc.err), errors.Join(errors.New("x"), tc.err),
		} {
			if got := xerror.From(err).GetErrorCode(); err == nil || got != tc.want {
				t.Errorf("%s: %v = %v, want %v", name, err, got, tc.want)
			}
		}
	}
}

func TestServe_TruncatedBody(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.Use(xhelper.Serve(xhelper.Config{}))
	engine.POST("/file", func(c *gin.Context) { _ = c.Error(errOf(c.FormFile("file"))) })
	engine.POST("/json", func(c *gin.Context) { _ = c.Error(c.ShouldBindJSON(&struct{}{})) })
	s := httptest.NewServer(engine)
	t.Cleanup(s.Close)
	part := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nhalf"
	for name, text := range map[string]string{
		"truncated upload": "POST /file HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n" + part,
		"upload without final boundary": fmt.Sprintf(
			"POST /file HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: %d\r\n\r\n%s", len(part), part),
		"truncated document": "POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"a\":",
	} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(conn, text)
		err = errors.Join(err, conn.(*net.TCPConn).CloseWrite())
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Output string }
		err = errors.Join(json.NewDecoder(res.Body).Decode(&got), res.Body.Close(), conn.Close())
		if err != nil || res.StatusCode != http.StatusBadRequest || got.Output != "BODY_ERROR" {
			t.Errorf("%s: %d %s, %v; want 400 BODY_ERROR", name, res.StatusCode, got.Output, err)
		}
	}
}

// lines is a concurrent log buffer.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func TestServe_ResetBody(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	out := &lines{}
	log, err := xlog.New(xlog.Config{Writer: out, Format: xlog.FormatJSON})
	if err != nil {
		t.Fatal(err)
	}
	reading, codes := make(chan struct{}), make(chan *xerror.ErrorCode)
	var served sync.WaitGroup
	engine := gin.New()
	engine.Use(func(c *gin.Context) { served.Add(1); defer served.Done(); c.Next() },
		xhelper.Serve(xhelper.Config{}))
	fail := func(c *gin.Context, bind func() error) {
		c.Request.Body = &firstRead{ReadCloser: c.Request.Body, done: reading}
		err := bind()
		_ = c.Error(err)
		codes <- xerror.From(err).GetErrorCode()
	}
	engine.POST("/file", func(c *gin.Context) {
		fail(c, func() error { return errOf(c.FormFile("file")) })
	})
	engine.POST("/json", func(c *gin.Context) {
		fail(c, func() error { return c.ShouldBindJSON(&struct{}{}) })
	})
	s := httptest.NewUnstartedServer(engine)
	s.Config.BaseContext = func(net.Listener) context.Context {
		return xlog.NewContext(context.Background(), log)
	}
	s.Start()
	t.Cleanup(s.Close)
	for path, incomplete := range map[string]string{
		"/file": "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nhalf",
		"/json": "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"a\":",
	} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: x\r\n"+incomplete)
		if err != nil {
			t.Fatal(err)
		}
		<-reading // otherwise the reset discards the sent data
		if err := errors.Join(conn.(*net.TCPConn).SetLinger(0), conn.Close()); err != nil {
			t.Fatal(err)
		}
		if got := <-codes; got != xerror.Canceled {
			t.Errorf("%s: %v, want %v", path, got, xerror.Canceled)
		}
	}
	served.Wait()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	info, all := 0, 0
	for line := range strings.Lines(out.String()) {
		if all++; strings.Contains(line, `"level":"info"`) &&
			strings.Contains(line, fmt.Sprintf(`"error_code":%d`, xerror.Canceled.GetCode())) {
			info++
		}
	}
	if info != 2 || all != 2 {
		t.Errorf("%d lines, %d of them CANCELED at INFO; want 2 and no others:\n%s", all, info, out)
	}
}

// firstRead is a body that reports its first read.
type firstRead struct {
	io.ReadCloser
	done chan<- struct{}
	once sync.Once
}

func (r *firstRead) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.once.Do(func() { r.done <- struct{}{} })
	return n, err
}

func TestOpen_Unreachable(t *testing.T) {
	address := unreachable(t)
	for name, dsn := range map[string]string{
		"mysql":     "u:p@tcp(" + address + ")/d",
		"oracle":    "oracle://u:p@" + address + "/d",
		"postgres":  "postgres://u:p@" + address + "/d",
		"sqlserver": "sqlserver://u:p@" + address + "?database=d",
	} {
		_, err := xdb.Open(t.Context(), xdb.Options{
			Driver: name, DSN: xlog.Secret(dsn), ConnectTimeout: -1,
		})
		if got := xerror.From(err).GetErrorCode(); got != xerror.ServiceUnavailable ||
			got.Status() != http.StatusServiceUnavailable {
			t.Errorf("%s: %v = %v, want %v", name, err, got, xerror.ServiceUnavailable)
		}
	}
}
