package xhelper_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func TestWithStreamReport(t *testing.T) {
	hijack := func(c *gin.Context) {
		conn, _, err := c.Writer.Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.Close()
	}
	for _, tc := range []struct {
		name    string
		handler gin.HandlerFunc
		want    int
	}{
		{"an envelope is not a stream", func(c *gin.Context) { xresult.Success(c, "ok") }, 0},
		{"a flushed download of JSON lines is not a stream", func(c *gin.Context) {
			c.Header("Content-Type", "application/x-ndjson")
			_, _ = c.Writer.WriteString("{}\n")
			c.Writer.Flush()
		}, 0},
		{"an error before the first event is not a stream", func(c *gin.Context) {
			c.Header("Content-Type", "text/event-stream")
			c.AbortWithStatus(http.StatusConflict)
		}, 0},
		{"server-sent events are reported once", func(c *gin.Context) {
			c.Stream(func(io.Writer) bool {
				c.SSEvent("message", "a")
				c.SSEvent("message", "b")
				return false
			})
		}, 1},
		{"events of xresult are a stream before the first one", func(c *gin.Context) {
			xresult.Stream(c, func(yield func(int, error) bool) { yield(0, xerror.NotFound) })
		}, 1},
		{"a flushed header starts a stream", func(c *gin.Context) {
			c.Header("Content-Type", "Text/Event-Stream; charset=utf-8")
			c.Writer.Flush()
		}, 1},
		{"a written header starts a stream", func(c *gin.Context) {
			c.Header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
			c.Writer.WriteHeaderNow()
		}, 1},
		{"a hijacked connection is a stream", hijack, 1},
		{"a marked request is a stream before it starts", func(c *gin.Context) {
			xhelper.MarkStream(c)
			xhelper.MarkStream(c)
			xresult.Success(c, "ok")
		}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			engine, _ := newEngine(t, xhelper.Config{})
			engine.GET("/stream", tc.handler)
			got, done := 0, make(chan struct{})
			server := httptest.NewServer(
				http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					defer close(done)
					engine.ServeHTTP(w,
						req.WithContext(xhelper.WithStreamReport(req.Context(), func() { got++ })))
				}))
			defer server.Close()
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/stream",
				http.NoBody)
			req.Header.Set("Accept", "text/event-stream") // a request header has no effect
			if resp, err := server.Client().Do(req); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			<-done
			if got != tc.want {
				t.Errorf("reports = %d, want %d", got, tc.want)
			}
		})
	}
}

func TestMarkStream_NoServe(t *testing.T) {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	xhelper.MarkStream(c) // has no effect
}

func TestServe_Head(t *testing.T) {
	// A client of HEAD waits for the header, then for the next response on the
	// connection.
	t.Run("cancels the context after the header of a stream", func(t *testing.T) {
		for name, timeout := range map[string]time.Duration{
			"with a request timeout":    0,
			"without a request timeout": -1,
		} {
			t.Run(name, func(t *testing.T) {
				engine, _ := newEngine(t, xhelper.Config{RequestTimeout: timeout})
				engine.HEAD("/stream", func(c *gin.Context) {
					c.Header("Content-Type", "text/event-stream")
					c.Writer.Flush()
					<-c.Request.Context().Done()
				})
				engine.GET("/next", func(c *gin.Context) { c.Status(http.StatusNoContent) })
				in := raw(t, listen(t, engine),
					"HEAD /stream HTTP/1.1\r\nHost: x\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n")
				for _, want := range []struct {
					method string
					status int
				}{{http.MethodHead, http.StatusOK}, {http.MethodGet, http.StatusNoContent}} {
					res, err := http.ReadResponse(in, &http.Request{Method: want.method})
					if err != nil {
						t.Fatal(err)
					}
					_ = res.Body.Close()
					if res.StatusCode != want.status {
						t.Errorf("%s: status %d, want %d", want.method, res.StatusCode, want.status)
					}
				}
			})
		}
	})

	// The context of a HEAD request is canceled only when the response starts a stream.
	t.Run("does not cancel the context of other responses", func(t *testing.T) {
		for name, contentType := range map[string]string{
			"an event stream before it starts": "",
			"a document":                       "application/json",
			"JSON lines":                       "application/jsonl",
		} {
			t.Run(name, func(t *testing.T) {
				engine, _ := newEngine(t, xhelper.Config{})
				engine.HEAD("/", func(c *gin.Context) {
					xhelper.MarkStream(c)
					if contentType != "" {
						c.Header("Content-Type", contentType)
						c.Writer.Flush()
					}
					if err := c.Request.Context().Err(); err != nil {
						t.Errorf("context error before the handler returned: %v", err)
					}
				})
				do(engine, http.MethodHead, "/")
			})
		}
	})
}
