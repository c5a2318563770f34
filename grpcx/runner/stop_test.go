package runner_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/core/major/xresult"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/runner"
)

// closer is a node that records its Close.
type closer struct{ events *events }

// Close implements the close method of a node.
func (c closer) Close() { c.events.add("close") }

// withCloser returns a fixture with a closer.
func withCloser(n *events, runner ...runner.Option) fixture {
	return fixture{runner: runner, nodes: []xregnode.Node{
		{Key: "node", Node: func(context.Context) (any, error) { return closer{n}, nil }},
	}}
}

func TestNew_Shutdown(t *testing.T) {
	t.Run("closes nodes after the last handler", func(t *testing.T) {
		n := &events{}
		a := prepare(t, withCloser(n, runner.WithGracefulStopTimeout(100*time.Millisecond)))
		entered := make(chan struct{})
		a.service.OnUnary = func(ctx context.Context, _ *pb.TestRequest) (*pb.TestResponse, error) {
			close(entered)
			<-ctx.Done()                         // force closed
			<-time.After(200 * time.Millisecond) // no node must be closed in the meantime
			if a.Init.Ctx.Err() != nil {
				t.Error("the application's context was canceled before the handler returned")
			}
			n.add("handler")
			return nil, ctx.Err()
		}
		a.start()
		callUnary(t.Context(), a.client(), "slow")
		wait(t, entered, "the call")
		if err := a.stop(); err == nil ||
			!strings.Contains(err.Error(), "1 unary calls force closed") {
			t.Errorf("RunContext = %v, want the number of force closed calls", err)
		}
		if n.String() != "handler close" {
			t.Errorf("order = %s, want the handler first", n)
		}
		if line := a.log.Only("call"); line["status"] != "CANCELLED" {
			t.Errorf("line = %v, want the status CANCELLED", line)
		}
	})

	t.Run("drains gRPC and HTTP concurrently", func(t *testing.T) {
		n := &events{}
		f := withCloser(n)
		// The call and the request wait for each other and for shutdown.
		called, requested := make(chan struct{}), make(chan struct{})
		f.options = []xoption.Option{xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
			e.GET("/slow", func(c *gin.Context) {
				close(requested)
				<-called
				<-xhook.Draining(c)
				n.add("request")
				xresult.Success(c, "slow")
			})
		})}
		a := prepare(t, f)
		a.service.OnUnary = func(ctx context.Context, _ *pb.TestRequest) (*pb.TestResponse, error) {
			close(called)
			<-requested
			<-xhook.Draining(ctx)
			n.add("call")
			return &pb.TestResponse{}, nil
		}
		a.start()
		call := callUnary(t.Context(), a.client(), "slow")
		request := make(chan int, 1)
		go func() {
			code, _, _ := get(t, a.url+"/slow")
			request <- code
		}()
		wait(t, called, "the call")
		wait(t, requested, "the request")
		if err := a.stop(); err != nil {
			t.Error(err)
		}
		if err := <-call; err != nil {
			t.Errorf("call = %v, want OK", err)
		}
		if code := <-request; code != http.StatusOK {
			t.Errorf("request = %d, want 200", code)
		}
		if !strings.HasSuffix(n.String(), "close") || len(n.list) != 3 {
			t.Errorf("order = %s, want close last", n)
		}
	})

	t.Run("is not delayed by health watches", func(t *testing.T) {
		a := prepare(t, fixture{}).start()
		for range 10 {
			watch(t, a.conn(), "").next(serving)
		}
		started := time.Now()
		if err := a.stop(); err != nil {
			t.Error(err)
		}
		if elapsed := time.Since(started); elapsed > shutdownLimit {
			t.Errorf("the shutdown took %s, want at most %s", elapsed, shutdownLimit)
		}
		if len(a.log.Lines("in-flight calls force closed")) != 0 {
			t.Errorf("log:\n%s\nwant no calls force closed", a.log)
		}
	})

	t.Run("runs once for concurrent stops", func(t *testing.T) {
		n := &events{}
		a := prepare(t, withCloser(n))
		entered, release := make(chan struct{}), make(chan struct{})
		a.service.OnUnary = func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
			close(entered)
			<-release
			n.add("handler")
			return &pb.TestResponse{}, nil
		}
		a.start()
		call := callUnary(t.Context(), a.client(), "slow")
		wait(t, entered, "the call")
		var stops sync.WaitGroup
		stops.Go(a.cancel) // cancels the context of xmain.RunContext
		stops.Go(a.Cancel)
		waitRefused(t, a.address)
		close(release)
		stops.Wait()
		if err := a.result(); err != nil {
			t.Error(err)
		}
		if err := <-call; err != nil {
			t.Errorf("call = %v, want OK", err)
		}
		if n.String() != "handler close" {
			t.Errorf("order = %s, want the handler first", n)
		}
	})

	t.Run("works without xmain.Runner", func(t *testing.T) {
		n := &events{}
		a := prepare(t, withCloser(n))
		task := make(chan struct{})
		go func() {
			defer close(task)
			a.task(a.Init.Ctx)
		}()
		if err := a.Lifecycle().SetReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		entered := make(chan struct{})
		a.service.OnUnary = func(ctx context.Context, _ *pb.TestRequest) (*pb.TestResponse, error) {
			close(entered)
			<-xhook.Draining(ctx)
			n.add("handler")
			return &pb.TestResponse{}, nil
		}
		call := callUnary(t.Context(), a.client(grpc.WithDisableRetry()), "slow")
		wait(t, entered, "the call")
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
		wait(t, task, "the task")
		if err := <-call; err != nil {
			t.Errorf("call = %v, want OK", err)
		}
		if n.String() != "handler close" {
			t.Errorf("order = %s, want the handler first", n)
		}
	})
}
