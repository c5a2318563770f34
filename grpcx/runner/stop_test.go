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

// closer is a node that notes its close.
type closer struct{ notes *notes }

// Close implements the close of a node.
func (c closer) Close() { c.notes.add("close") }

// closing is a fixture with a node that notes its close.
func closing(n *notes, runner ...runner.Option) fixture {
	return fixture{runner: runner, nodes: []xregnode.Node{
		{Key: "node", Node: func(context.Context) (any, error) { return closer{n}, nil }},
	}}
}

func TestNodesAreClosedAfterTheLastHandlerHasReturned(t *testing.T) {
	n := &notes{}
	a := prepare(t, closing(n, runner.WithGracefulStopTimeout(100*time.Millisecond)))
	entered := make(chan struct{})
	a.service.OnUnary = func(ctx context.Context, _ *pb.TestRequest) (*pb.TestResponse, error) {
		close(entered)
		<-ctx.Done() // cut off
		// what is claimed is an absence: nothing is closed meanwhile
		<-time.After(200 * time.Millisecond)
		if a.Init.Ctx.Err() != nil {
			t.Error("the application's context ended before the handler")
		}
		n.add("handler")
		return nil, ctx.Err()
	}
	a.start()
	callUnary(t.Context(), a.client(), "slow")
	wait(t, entered, "the call")
	if err := a.stop(); err == nil || !strings.Contains(err.Error(), "1 unary calls were cut off") {
		t.Errorf("RunContext = %v, want the call", err)
	}
	if n.String() != "handler close" {
		t.Errorf("order = %s, want the handler first", n)
	}
	if line := a.log.Only("call"); line["status"] != "CANCELLED" {
		t.Errorf("line = %v, want the call's", line)
	}
}

func TestCallAndRequestInFlightFinishTogether(t *testing.T) {
	n := &notes{}
	f := closing(n)
	// each waits for the stop, and for the other
	calling, asking := make(chan struct{}), make(chan struct{})
	f.options = []xoption.Option{xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
		e.GET("/slow", func(c *gin.Context) {
			close(asking)
			<-calling
			<-xhook.Draining(c)
			n.add("request")
			xresult.Success(c, "slow")
		})
	})}
	a := prepare(t, f)
	a.service.OnUnary = func(ctx context.Context, _ *pb.TestRequest) (*pb.TestResponse, error) {
		close(calling)
		<-asking
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
	wait(t, calling, "the call")
	wait(t, asking, "the request")
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
		t.Errorf("order = %s, want the close last", n)
	}
}

func TestWatchersOfHealthDoNotHoldUpTheStop(t *testing.T) {
	a := prepare(t, fixture{}).start()
	for range 10 {
		watch(t, a.conn(), "").next(serving)
	}
	began := time.Now()
	if err := a.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > soon {
		t.Errorf("the stop took %s", took)
	}
	if len(a.log.Lines("what has not finished is cut off")) != 0 {
		t.Errorf("log:\n%s\nwant nothing cut off", a.log)
	}
}

func TestStopsAtTheSameTimeAreOne(t *testing.T) {
	n := &notes{}
	a := prepare(t, closing(n))
	entered, goOn := make(chan struct{}), make(chan struct{})
	a.service.OnUnary = func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
		close(entered)
		<-goOn
		n.add("handler")
		return &pb.TestResponse{}, nil
	}
	a.start()
	call := callUnary(t.Context(), a.client(), "slow")
	wait(t, entered, "the call")
	var stops sync.WaitGroup
	stops.Go(a.cancel) // the Runner's, and with it that of the hook and that of the task
	stops.Go(a.Cancel)
	refused(t, a.address)
	close(goOn)
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
}

func TestStopWithoutTheRunnerFinishesCallsToo(t *testing.T) {
	n := &notes{}
	a := prepare(t, closing(n))
	task := make(chan struct{})
	go func() {
		defer close(task)
		a.task(a.Init.Ctx)
	}()
	if err := a.Life().Ready(t.Context()); err != nil {
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
}
