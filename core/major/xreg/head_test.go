package xreg_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func TestHEAD_Routes(t *testing.T) {
	var methods []string
	reg, _ := start(t, nil,
		xoption.WithEngine(func(e *gin.Engine) {
			e.Use(func(c *gin.Context) { methods = append(methods, c.Request.Method) })
		}),
		xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
			e.Group("/group").GET("/:id",
				func(c *gin.Context) { xresult.Success(c, c.Param("id")+c.Request.Method) })
			e.GET("/error", func(c *gin.Context) { _ = c.Error(xerror.NotFound) })
			e.GET("/own", func(c *gin.Context) { c.Status(http.StatusNoContent) })
			e.HEAD("/own", func(c *gin.Context) { c.Status(http.StatusResetContent) })
			e.POST("/post", func(c *gin.Context) { c.Status(http.StatusNoContent) })
		}))
	s := httptest.NewServer(reg.Serve)
	t.Cleanup(s.Close)
	for _, tc := range []struct {
		method, path string
		status       int
		allow        string
		seen         string
	}{
		{"HEAD", "/group/7", 200, "", "HEAD"},
		{"GET", "/group/7", 200, "", "GET"},
		{"HEAD", "/error", 404, "", "HEAD"},
		{"HEAD", "/own", 205, "", "HEAD"},
		{"HEAD", "/post", 405, "POST", "HEAD"},
		{"HEAD", "/nowhere", 404, "", "HEAD"},
		{"PUT", "/group/7", 405, "GET, HEAD", "PUT"},
	} {
		t.Run(tc.method+tc.path, func(t *testing.T) {
			methods = nil
			req, err := http.NewRequestWithContext(t.Context(), tc.method, s.URL+tc.path,
				http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != tc.status || res.Header.Get("Allow") != tc.allow {
				t.Errorf("status %d, Allow %q; want %d, %q",
					res.StatusCode, res.Header.Get("Allow"), tc.status, tc.allow)
			}
			if (len(body) == 0) != (tc.method == http.MethodHead) {
				t.Errorf("body %q", body)
			}
			if tc.status == http.StatusOK && res.ContentLength <= 0 {
				t.Errorf("Content-Length = %d, want that of GET", res.ContentLength)
			}
			if len(methods) != 1 || methods[0] != tc.seen {
				t.Errorf("the middleware saw %v, want %s once", methods, tc.seen)
			}
			if len(res.Header.Values("X-Request-UUID")) != 1 {
				t.Errorf("request ids %v, want one", res.Header.Values("X-Request-UUID"))
			}
		})
	}
}

// The handler of server-sent events writes until its context is canceled.
func TestHEAD_Streams(t *testing.T) {
	ended := make(chan error, 1)
	reg, _ := start(t, nil, xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
		e.GET("/events", func(c *gin.Context) {
			c.Header("Content-Type", "text/event-stream")
			c.Writer.Flush()
			<-c.Request.Context().Done()
			ended <- c.Request.Context().Err()
		})
	}))
	s := httptest.NewServer(reg.Serve)
	t.Cleanup(s.Close)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodHead, s.URL+"/events",
		http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if got := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK ||
		got != "text/event-stream" {
		t.Errorf("status %d, Content-Type %q; want those of GET", res.StatusCode, got)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the context ended with %v, want context.Canceled", err)
	}
}
