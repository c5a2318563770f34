package xhelper_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xhelper"
)

const timeout = 10 * time.Second

type valueKey struct{}

// serveTimed calls handle as the handler of a request. The returned function cancels the
// request, as a client would.
func serveTimed(t *testing.T, c xhelper.Config, handle gin.HandlerFunc) context.CancelFunc {
	t.Helper()
	engine, _ := newEngine(t, c)
	ctx, cancel := context.WithCancel(context.Background())
	engine.GET("/route/:id", func(c *gin.Context) { c.Set("cancel", cancel); handle(c) })
	engine.ServeHTTP(httptest.NewRecorder(),
		httptest.NewRequestWithContext(ctx, http.MethodGet, "/route/7", http.NoBody))
	return cancel
}

func TestServe_RequestTimeout(t *testing.T) {
	type outcome struct {
		err     error
		cause   error
		elapsed time.Duration
	}
	wait := func(ctx context.Context, start time.Time) outcome {
		select {
		case <-ctx.Done():
		case <-time.After(time.Hour):
		}
		return outcome{ctx.Err(), context.Cause(ctx), time.Since(start)}
	}
	none := outcome{elapsed: time.Hour}
	late := outcome{context.DeadlineExceeded, context.DeadlineExceeded, timeout}
	tests := []struct {
		name   string
		config xhelper.Config
		handle func(c *gin.Context, start time.Time) outcome
		want   outcome
	}{
		{
			"cancels the context",
			xhelper.Config{RequestTimeout: timeout},
			func(c *gin.Context, start time.Time) outcome {
				return wait(c.Request.Context(), start)
			}, late,
		},
		{
			"cancels the gin context",
			xhelper.Config{RequestTimeout: timeout},
			func(c *gin.Context, start time.Time) outcome {
				return wait(c, start)
			}, late,
		},
		{
			"cancels a derived context",
			xhelper.Config{RequestTimeout: timeout},
			func(c *gin.Context, start time.Time) outcome {
				ctx := context.WithValue(c.Request.Context(), valueKey{}, 1)
				ctx, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				return wait(ctx, start)
			}, late,
		},
		{
			"is 30 s by default",
			xhelper.Config{},
			func(c *gin.Context, start time.Time) outcome {
				return wait(c.Request.Context(), start)
			},
			outcome{context.DeadlineExceeded, context.DeadlineExceeded, 30 * time.Second},
		},
		{
			"has no effect if negative",
			xhelper.Config{RequestTimeout: -1},
			func(c *gin.Context, start time.Time) outcome {
				return wait(c.Request.Context(), start)
			}, none,
		},
		{
			"uses the timeout of the route",
			xhelper.Config{RouteRequestTimeout: map[string]time.Duration{"/route/:id": timeout}},
			func(c *gin.Context, start time.Time) outcome {
				return wait(c.Request.Context(), start)
			}, late,
		},
		{
			"has no effect if the timeout of the route is 0",
			xhelper.Config{
				RequestTimeout:      timeout,
				RouteRequestTimeout: map[string]time.Duration{"/route/:id": 0},
			},
			func(c *gin.Context, start time.Time) outcome {
				return wait(c.Request.Context(), start)
			}, none,
		},
		{
			"is reported by Err without Done",
			xhelper.Config{RequestTimeout: timeout},
			func(c *gin.Context, start time.Time) outcome {
				<-time.After(timeout)
				ctx := c.Request.Context()
				return outcome{ctx.Err(), context.Cause(ctx), time.Since(start)}
			}, late,
		},
		{
			"does not hide a cancellation by the client",
			xhelper.Config{RequestTimeout: timeout},
			func(c *gin.Context, start time.Time) outcome {
				ctx := c.Request.Context()
				<-time.After(time.Second)
				c.MustGet("cancel").(context.CancelFunc)()
				return wait(ctx, start)
			},
			outcome{context.Canceled, context.Canceled, time.Second},
		},
		{
			"does not hide a cancellation from a derived context",
			xhelper.Config{RequestTimeout: timeout},
			func(c *gin.Context, start time.Time) outcome {
				ctx, cancel := context.WithCancel(c.Request.Context())
				defer cancel()
				time.AfterFunc(time.Second, c.MustGet("cancel").(context.CancelFunc))
				return wait(ctx, start)
			},
			outcome{context.Canceled, context.Canceled, time.Second},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var got outcome
				cancel := serveTimed(t, tt.config, func(c *gin.Context) {
					got = tt.handle(c, start)
					c.String(http.StatusOK, "done")
				})
				defer cancel()
				if got != tt.want {
					t.Errorf("context = %+v, want %+v", got, tt.want)
				}
			})
		})
	}
}

func TestServe_RequestTimeout_Streams(t *testing.T) {
	lines := func(contentType string) gin.HandlerFunc {
		return func(c *gin.Context) {
			c.Header("Content-Type", contentType)
			_, _ = c.Writer.WriteString("{}\n")
		}
	}
	tests := []struct {
		name  string
		start func(c *gin.Context)
	}{
		{"marked", xhelper.MarkStream},
		{"text/event-stream", func(c *gin.Context) {
			c.Header("Content-Type", "text/event-stream")
			c.Writer.Flush()
		}},
		{"multipart through a controller", func(c *gin.Context) {
			c.Header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
			if err := http.NewResponseController(c.Writer).Flush(); err != nil {
				panic(err)
			}
		}},
		{"application/jsonl", lines("application/jsonl")},
		{"application/x-ndjson", lines("application/x-ndjson; charset=utf-8")},
		{"application/json-seq", lines("application/json-seq")},
		{"mixed case, with a repeated parameter", lines("Text/Event-Stream ; a=b; a=c")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ctxErr error
				cancel := serveTimed(t, xhelper.Config{RequestTimeout: timeout},
					func(c *gin.Context) {
						ctx := c.Request.Context()
						done := ctx.Done() // starts the timer
						derived, cancel := context.WithCancel(ctx)
						defer cancel()
						tt.start(c)
						select {
						case <-done:
						case <-derived.Done():
						case <-time.After(time.Hour):
						}
						_, hasDeadline := ctx.Deadline()
						ctxErr = errors.Join(ctx.Err(), derived.Err())
						if hasDeadline {
							t.Error("the stream has a deadline")
						}
					})
				defer cancel()
				if ctxErr != nil {
					t.Errorf("context error of the stream = %v, want nil", ctxErr)
				}
			})
		})
	}
	t.Run("the timeout applies to a flushed JSON response", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var err error
			cancel := serveTimed(t, xhelper.Config{RequestTimeout: timeout}, func(c *gin.Context) {
				c.Header("Content-Type", "application/json")
				c.Writer.Flush()
				<-c.Request.Context().Done()
				err = c.Request.Context().Err()
			})
			defer cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("context error = %v, want DeadlineExceeded", err)
			}
		})
	})
}

func TestServe_RequestTimeout_Deadline(t *testing.T) {
	start := time.Now()
	cancel := serveTimed(t, xhelper.Config{RequestTimeout: timeout}, func(c *gin.Context) {
		at, ok := c.Request.Context().Deadline()
		if left := at.Sub(start); !ok || left < timeout || left > 2*timeout {
			t.Errorf("deadline in %s, want %s", left, timeout)
		}
		ctx, cancel := context.WithCancel(c.Request.Context())
		defer cancel()
		if derived, ok := ctx.Deadline(); !ok || !derived.Equal(at) {
			t.Errorf("deadline of a derived context = %v, want %v", derived, at)
		}
	})
	cancel()
}
