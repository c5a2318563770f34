package webhook_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/notifyx/webhook"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == childMark {
		child(os.Args[2], os.Args[3])
	}
	gin.SetMode(gin.TestMode)
	goleak.VerifyTestMain(m)
}

// vector is the example secret of the specification.
const vector = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// newClient returns a client that may connect to loopback addresses.
func newClient(t *testing.T, opts ...webhook.Option) *webhook.Client {
	t.Helper()
	opts = append([]webhook.Option{webhook.WithHTTP(), webhook.WithAllowLoopback()}, opts...)
	c, err := webhook.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// endpoint returns a receiver with the example secret of the specification.
func endpoint(url string) webhook.Endpoint {
	return webhook.Endpoint{
		ID: "shop", URL: url, Secrets: []signature.Secret{signature.MustParseSecret(vector)},
	}
}

func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

// listen starts a TCP server that calls serve for each connection, with a context that is
// canceled at the end of the test.
func listen(t *testing.T, serve func(ctx context.Context, conn net.Conn)) (url string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer func() { _ = conn.Close() }()
				defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
				serve(ctx, conn)
			})
		}
	})
	t.Cleanup(func() {
		cancel()
		_ = l.Close()
		all.Wait()
	})
	return "http://" + l.Addr().String()
}

// logBuffer records log output. It is safe for concurrent use.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns the recorded output.
func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// capture captures the log until the end of the test.
func capture(t *testing.T) *logBuffer {
	t.Helper()
	out := &logBuffer{}
	engine, err := xlog.New(xlog.Config{Format: xlog.FormatJSON, Writer: out})
	if err != nil {
		t.Fatal(err)
	}
	restore := xlog.SetDefault(engine)
	t.Cleanup(func() {
		restore()
		_ = engine.Close()
	})
	return out
}
