package snippets_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xhook"
)

func startMailer(ctx context.Context) (any, error) { //nolint:unparam // a node
	mailer := newMailer()
	xhook.OnStop(ctx, "mailer", mailer.Flush)
	xhook.AddHealth(ctx, "mailer", mailer.Ping)
	return mailer, nil
}

// xhookMailer is a component that a service starts and stops.
type xhookMailer struct{}

func newMailer() *xhookMailer { return &xhookMailer{} }

// Flush sends the queued mails.
func (*xhookMailer) Flush(context.Context) error {
	fmt.Println("mail queue flushed") //nolint:forbidigo // output of the example
	return nil
}

// Ping checks the connection to the server.
func (*xhookMailer) Ping(context.Context) error { return nil }

func Example_xhook() {
	l := xhook.New() // xreg and xmain do this for an application
	ctx := xhook.NewContext(context.Background(), l)
	if _, err := startMailer(ctx); err != nil {
		fmt.Println(err)
		return
	}
	for _, health := range l.Check(ctx) {
		fmt.Println(health.Name, health.Err)
	}
	_ = l.Stop(ctx)
	// Output:
	// mailer <nil>
	// mail queue flushed
}

const adminAddress = "127.0.0.1:0"

func newAdminServer() *http.Server { return &http.Server{ReadHeaderTimeout: time.Second} }

func serveAdmin(ctx context.Context, _ ...any) {
	release, _ := xhook.HoldReady(ctx, "admin server")
	defer release()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", adminAddress)
	if err != nil {
		xhook.Fail(ctx, err)
		return
	}
	server := newAdminServer()
	if !xhook.OnShutdown(ctx, "admin server", server.Shutdown) {
		_ = listener.Close() // the shutdown has already started
		return
	}
	release()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		xhook.Fail(ctx, err)
	}
}

func TestXhook_SecondServer(t *testing.T) {
	t.Parallel()
	l := xhook.New()
	ctx := xhook.NewContext(t.Context(), l)
	early, _ := xhook.HoldReady(ctx, "task")
	served := make(chan struct{})
	go func() {
		defer close(served)
		early()
		serveAdmin(ctx)
	}()
	if err := l.SetReady(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	<-served
	if err := l.Err(); err != nil {
		t.Errorf("the second server failed: %v", err)
	}
}

func xhookStream(c *gin.Context, events <-chan string, send func(event string)) {
	for {
		select {
		case event := <-events:
			send(event)
		case <-xhook.Draining(c):
			return
		}
	}
}

func TestXhook_Draining(t *testing.T) {
	t.Parallel()
	events := make(chan string, 1)
	events <- "first"
	app := plinthtest.New(t)
	app.Engine().GET("/events", func(c *gin.Context) {
		xhookStream(c, events, func(event string) {
			c.String(http.StatusOK, event)
			xhook.From(c).StartDrain()
		})
	})
	if r := app.Request(http.MethodGet, "/events", nil); r.Body() != "first" {
		t.Errorf("body = %q, want the first event", r.Body())
	}
}
