package xapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xoption"
)

func TestUpload_Timeouts(t *testing.T) {
	const timeout = 100 * time.Millisecond
	canceled := make(chan error, 1)
	app := plinthtest.New(t, xoption.WithRequestTimeout(timeout),
		xoption.WithEngine(func(e *gin.Engine) {
			xapi.Post(e, "/raw", func(ctx context.Context, in *struct{ Body *xapi.Raw }) (string, error) {
				n, err := io.Copy(io.Discard, in.Body)
				canceled <- ctx.Err()
				return fmt.Sprint(n), err
			})
		}))
	s := httptest.NewUnstartedServer(app.Engine())
	s.Config.ReadTimeout = timeout
	s.Start()
	t.Cleanup(s.Close)

	t.Run("do not stop an upload that makes progress", func(t *testing.T) {
		const blocks = 6
		body := &slowBody{block: strings.Repeat("x", 128<<10), blocks: blocks, pause: timeout / 2}
		status, got := post(t, s.URL+"/raw", "text/plain", body)
		if status != http.StatusOK || !strings.Contains(got, fmt.Sprint(blocks*128<<10)) {
			t.Errorf("response = %d %s, want 200", status, got)
		}
		if err := <-canceled; err != nil {
			t.Errorf("context = %v, want no timeout", err)
		}
	})
	t.Run("stop a client that sends nothing", func(t *testing.T) {
		conn := dial(t, s.URL)
		_, _ = io.WriteString(conn, "POST /raw HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhello")
		text, _ := io.ReadAll(conn)
		if !strings.Contains(string(text), "408 Request Timeout") {
			t.Errorf("response = %s, want 408", text)
		}
		t.Logf("context: %v", <-canceled)
	})
}

// slowBody is a body that pauses before each block.
type slowBody struct {
	block   string
	blocks  int
	pause   time.Duration
	current strings.Reader
}

func (b *slowBody) Read(p []byte) (int, error) {
	if b.current.Len() == 0 {
		if b.blocks == 0 {
			return 0, io.EOF
		}
		b.blocks--
		b.current.Reset(b.block)
		<-time.After(b.pause)
	}
	return b.current.Read(p)
}

func dial(t *testing.T, url string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestUpload_Disconnect(t *testing.T) {
	failed, reading := make(chan error, 1), make(chan struct{}, 1)
	url, app := serveHTTP(t, func(e *gin.Engine) {
		xapi.Post(e, "/upload", func(_ context.Context, in *struct{ Upload *xapi.Upload }) (any, error) {
			for part, err := range in.Upload.Parts() {
				if err == nil {
					reading <- struct{}{}
					_, err = io.Copy(io.Discard, part)
				}
				if err != nil {
					failed <- err
					return nil, err
				}
			}
			return nil, errors.New("the form is complete")
		})
	})
	body, contentType := encodeForm(t, formPart{"a", "a.txt", strings.Repeat("x", 4096)})
	conn := dial(t, url)
	_, _ = fmt.Fprintf(conn, "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		contentType, len(body), body[:512])
	<-reading
	_ = conn.Close()
	if err := <-failed; err == nil {
		t.Error("no error after the client disconnected")
	}
	if log := app.LogText(); strings.Contains(log, `"level":"error"`) {
		t.Errorf("log = %s, want no line at ERROR", log)
	}
}
