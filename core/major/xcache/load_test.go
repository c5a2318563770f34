package xcache_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xhook"
	_ "github.com/plinthgo/plinth/core/major/xhttp" // knows the contexts of gin
)

type ctxKey string

// gin gives its context to another request when a handler returns. A load that goes on
// for others must not read that.
func TestALoadThatOutlivesItsHandlerReadsTheRequestsOwnContext(t *testing.T) {
	m := newManager(t)
	c := xcache.KeyCacheOf[string, string](m)
	gin.SetMode(gin.TestMode)
	g, engine := gin.CreateTestContext(httptest.NewRecorder())
	engine.ContextWithFallback = true
	g.Request = httptest.NewRequestWithContext(context.WithValue(t.Context(), ctxKey("request"),
		"r"), "GET", "/", nil)
	g.Set("handler", "h")
	handler, leave := context.WithCancel(g)

	started, release := make(chan struct{}), make(chan struct{})
	var before, after [2]any
	left := make(chan error, 1)
	go func() {
		_, _, err := c.GetOrLoad(handler, "k", func(ctx context.Context) (*string, error) {
			before = [2]any{ctx.Value("handler"), ctx.Value(ctxKey("request"))}
			close(started)
			<-release
			after = [2]any{ctx.Value("handler"), ctx.Value(ctxKey("request"))}
			return new("v"), nil
		})
		left <- err
	}()
	<-started
	stays := make(chan error, 1)
	go func() {
		_, _, err := c.GetOrLoad(t.Context(), "k", func(context.Context) (*string, error) {
			return nil, errors.New("a second load")
		})
		stays <- err
	}()
	for m.Waiting() != 2 {
		runtime.Gosched()
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the handler got %v, want its context's error", err)
	}
	close(release)
	if err := <-stays; err != nil {
		t.Error(err)
	}
	if before != [2]any{"h", "r"} {
		t.Errorf("values while the handler waited = %v, want both", before)
	}
	if after != [2]any{nil, "r"} {
		t.Errorf("values after the handler left = %v, want the request's only", after)
	}
}

// The race detector watches requests that end at any moment of a load, while gin's
// contexts go on to other requests.
func TestLoadsDoNotReadAContextThatServesAnotherRequest(t *testing.T) {
	m := newManager(t)
	c := xcache.KeyCacheOf[string, string](m)
	gin.SetMode(gin.TestMode)
	engine := gin.New()
	engine.ContextWithFallback = true
	var wrong atomic.Int64
	engine.GET("/:id", func(g *gin.Context) {
		id := g.Param("id")
		g.Set("handler", id)
		_, _, _ = c.GetOrLoad(g, "k", func(ctx context.Context) (*string, error) {
			for ctx.Err() == nil {
				if v := ctx.Value("handler"); v != nil && v != id {
					wrong.Add(1)
				}
				if ctx.Value(ctxKey("request")) != id {
					wrong.Add(1)
				}
			}
			return nil, ctx.Err()
		})
	})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for i := range 200 {
				id := strconv.Itoa(i)
				ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), ctxKey("request"),
					id), 200*time.Microsecond)
				engine.ServeHTTP(httptest.NewRecorder(),
					httptest.NewRequestWithContext(ctx, "GET", "/"+id, nil))
				cancel()
			}
		})
	}
	clients.Wait()
	if wrong.Load() > 0 {
		t.Errorf("loads saw %d values of other requests", wrong.Load())
	}
}

func TestALoaderThatEndsItsGoroutineIsReported(t *testing.T) {
	c := xcache.KeyCacheOf[string, string](newManager(t))
	_, _, err := c.GetOrLoad(t.Context(), "k", func(context.Context) (*string, error) {
		runtime.Goexit()
		return nil, nil
	})
	var p *xhook.PanicError
	if !errors.As(err, &p) || p.Value != nil {
		t.Errorf("GetOrLoad = %v, want a PanicError without a value", err)
	}
}

func TestGetOrLoadRefusesConditions(t *testing.T) {
	c := xcache.KeyCacheOf[string, string](newManager(t))
	_, _, err := c.GetOrLoad(t.Context(), "k", func(context.Context) (*string, error) {
		t.Error("loaded")
		return nil, nil
	}, xcache.WithXX())
	if !errors.Is(err, xcache.ErrOption) {
		t.Errorf("GetOrLoad with XX = %v, want ErrOption", err)
	}
}

func TestViewsOfOtherTypesLoadApart(t *testing.T) {
	m := newManager(t)
	texts, numbers := xcache.KeyCacheOf[string, string](m), xcache.KeyCacheOf[string, int](m)
	text, ok, err := texts.GetOrLoad(t.Context(), "k", func(ctx context.Context) (*string, error) {
		n, _, err := numbers.GetOrLoad(ctx, "k",
			func(context.Context) (*int, error) { return new(5), nil })
		if err != nil || *n != 5 {
			t.Errorf("the inner load = %v, %v; want 5", n, err)
		}
		return new("text"), nil
	})
	if err != nil || !ok || *text != "text" {
		t.Errorf("GetOrLoad = %v, %t, %v; want what was loaded", text, ok, err)
	}
}
