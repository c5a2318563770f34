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
	_ "github.com/plinthgo/plinth/core/major/xhttp" // registers gin contexts
)

type ctxKey string

func TestKeyCache_GetOrLoad_Context(t *testing.T) {
	// gin reuses its context for another request after the handler returned. A load that
	// continues for other callers must not read it.
	t.Run("reads only the request context after the gin handler returned", func(t *testing.T) {
		m := newManager(t)
		c := xcache.KeyCacheOf[string, string](m)
		gin.SetMode(gin.TestMode)
		g, engine := gin.CreateTestContext(httptest.NewRecorder())
		engine.ContextWithFallback = true
		requestCtx := context.WithValue(t.Context(), ctxKey("request"), "r")
		g.Request = httptest.NewRequestWithContext(requestCtx, "GET", "/", nil)
		g.Set("handler", "h")
		handlerCtx, disconnect := context.WithCancel(g)

		started, release := make(chan struct{}), make(chan struct{})
		var before, after [2]any
		handlerErr := make(chan error, 1)
		go func() {
			_, _, err := c.GetOrLoad(handlerCtx, "k", func(ctx context.Context) (*string, error) {
				before = [2]any{ctx.Value("handler"), ctx.Value(ctxKey("request"))}
				close(started)
				<-release
				after = [2]any{ctx.Value("handler"), ctx.Value(ctxKey("request"))}
				return new("v"), nil
			})
			handlerErr <- err
		}()
		<-started
		otherErr := make(chan error, 1)
		go func() {
			_, _, err := c.GetOrLoad(t.Context(), "k", func(context.Context) (*string, error) {
				return nil, errors.New("second load")
			})
			otherErr <- err
		}()
		for m.Waiting() != 2 {
			runtime.Gosched()
		}
		disconnect()
		if err := <-handlerErr; !errors.Is(err, context.Canceled) {
			t.Errorf("the handler got %v, want the context error", err)
		}
		close(release)
		if err := <-otherErr; err != nil {
			t.Error(err)
		}
		if before != [2]any{"h", "r"} {
			t.Errorf("values while the handler waits = %v, want both", before)
		}
		if after != [2]any{nil, "r"} {
			t.Errorf("values after the handler returned = %v, want only those of the request",
				after)
		}
	})

	// The race detector checks that loads do not read gin contexts that are reused while
	// requests end at random moments.
	t.Run("does not read a reused gin context", func(t *testing.T) {
		m := newManager(t)
		c := xcache.KeyCacheOf[string, string](m)
		gin.SetMode(gin.TestMode)
		engine := gin.New()
		engine.ContextWithFallback = true
		var mismatches atomic.Int64
		engine.GET("/:id", func(g *gin.Context) {
			id := g.Param("id")
			g.Set("handler", id)
			_, _, _ = c.GetOrLoad(g, "k", func(ctx context.Context) (*string, error) {
				for ctx.Err() == nil {
					if v := ctx.Value("handler"); v != nil && v != id {
						mismatches.Add(1)
					}
					if ctx.Value(ctxKey("request")) != id {
						mismatches.Add(1)
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
					ctx := context.WithValue(t.Context(), ctxKey("request"), id)
					ctx, cancel := context.WithTimeout(ctx, 200*time.Microsecond)
					engine.ServeHTTP(httptest.NewRecorder(),
						httptest.NewRequestWithContext(ctx, "GET", "/"+id, nil))
					cancel()
				}
			})
		}
		clients.Wait()
		if mismatches.Load() > 0 {
			t.Errorf("loads read %d values of other requests", mismatches.Load())
		}
	})
}

func TestKeyCache_GetOrLoad(t *testing.T) {
	t.Run("reports a loader that calls Goexit", func(t *testing.T) {
		c := xcache.KeyCacheOf[string, string](newManager(t))
		_, _, err := c.GetOrLoad(t.Context(), "k", func(context.Context) (*string, error) {
			runtime.Goexit()
			return nil, nil
		})
		var p *xhook.PanicError
		if !errors.As(err, &p) || p.Value != nil {
			t.Errorf("GetOrLoad = %v, want a PanicError without a value", err)
		}
	})

	t.Run("rejects conditions", func(t *testing.T) {
		c := xcache.KeyCacheOf[string, string](newManager(t))
		_, _, err := c.GetOrLoad(t.Context(), "k", func(context.Context) (*string, error) {
			t.Error("loaded")
			return nil, nil
		}, xcache.WithXX())
		if !errors.Is(err, xcache.ErrOption) {
			t.Errorf("GetOrLoad with XX = %v, want ErrOption", err)
		}
	})

	t.Run("does not share loads between value types", func(t *testing.T) {
		m := newManager(t)
		strs, numbers := xcache.KeyCacheOf[string, string](m), xcache.KeyCacheOf[string, int](m)
		text, ok, err := strs.GetOrLoad(t.Context(), "k",
			func(ctx context.Context) (*string, error) {
				n, _, err := numbers.GetOrLoad(ctx, "k",
					func(context.Context) (*int, error) { return new(5), nil })
				if err != nil || *n != 5 {
					t.Errorf("the inner load = %v, %v; want 5", n, err)
				}
				return new("text"), nil
			})
		if err != nil || !ok || *text != "text" {
			t.Errorf("GetOrLoad = %v, %t, %v; want the loaded value", text, ok, err)
		}
	})
}
