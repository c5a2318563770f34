package alldrivers_test

import (
	"bufio"
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
	"testing"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	xHelper "github.com/plinthgo/plinth/core/major/xhelper"
	_ "github.com/plinthgo/plinth/dbplugins/mysql"
	_ "github.com/plinthgo/plinth/dbplugins/oracle"
	_ "github.com/plinthgo/plinth/dbplugins/postgres"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
	_ "github.com/plinthgo/plinth/dbplugins/sqlserver"
)

func TestEveryDriverIsLinked(t *testing.T) {
	if want := []string{"mysql", "oracle", "postgres", "sqlite", "sqlserver"}; !slices.Equal(xDB.Drivers(), want) {
		t.Fatalf("drivers %v, want %v", xDB.Drivers(), want)
	}
}

// errOf returns the error of a call.
func errOf[T any](_ T, err error) error { return err }

// upstream returns the error of reading from a server that ends the connection, with a reset or not.
func upstream(t *testing.T, reset bool) error { //nolint:revive // flag-parameter: two cases of a table
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

// unreachable returns an address at which no server listens.
func unreachable(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// The codes are those of a program without a driver: see the table of xError.
func TestErrorsOfOtherLibrariesAreNotTheDatabases(t *testing.T) {
	address := unreachable(t)
	for name, tc := range map[string]struct {
		err  error
		want *xError.ErrorCode
	}{
		"end of file":         {upstream(t, false), xError.ServerInternalError},
		"reset":               {upstream(t, true), xError.NetworkError},
		"JSON that breaks":    {json.NewDecoder(strings.NewReader(`{"a":`)).Decode(new(any)), xError.ServerInternalError},
		"closed connection":   {fmt.Errorf("x: %w", net.ErrClosed), xError.NetworkError},
		"dead upstream":       {errOf(http.Get("http://" + address)), xError.RemoteError}, //nolint:bodyclose,noctx // it fails
		"dead server":         {errOf(new(net.Dialer).DialContext(t.Context(), "tcp", address)), xError.ServiceUnavailable},
		"unknown host":        {&net.DNSError{Err: "no such host", Name: "elsewhere"}, xError.NetworkError},
		"upstream's deadline": {context.DeadlineExceeded, xError.GatewayTimeout},
		"no record":           {gorm.ErrRecordNotFound, xError.RecordNotFound},
	} {
		for _, err := range []error{tc.err, fmt.Errorf("wrapped: %w", tc.err), errors.Join(errors.New("x"), tc.err)} {
			if got := xError.From(err).GetErrorCode(); err == nil || got != tc.want {
				t.Errorf("%s: %v = %v, want %v", name, err, got, tc.want)
			}
		}
	}
}

func TestTruncatedBodiesAreTheClients(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.Use(xHelper.Serve(xHelper.Config{}))
	engine.POST("/file", func(c *gin.Context) { _ = c.Error(errOf(c.FormFile("file"))) })
	engine.POST("/json", func(c *gin.Context) { _ = c.Error(c.ShouldBindJSON(&struct{}{})) })
	s := httptest.NewServer(engine)
	t.Cleanup(s.Close)
	part := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nhalf"
	for name, text := range map[string]string{
		"an upload that breaks off":            "POST /file HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n" + part,
		"an upload without its last delimiter": fmt.Sprintf("POST /file HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: %d\r\n\r\n%s", len(part), part),
		"a document that breaks off":           "POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"a\":",
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
