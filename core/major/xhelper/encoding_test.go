package xhelper_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhelper"
)

// replacedWriter is the writer of a middleware that does not restore the former writer.
type replacedWriter struct{ gin.ResponseWriter }

func TestServe_ReplacedWriter(t *testing.T) {
	for _, status := range []int{http.StatusNoContent, http.StatusNotFound} {
		var remains bool
		engine := gin.New()
		engine.Use(func(c *gin.Context) {
			c.Next()
			_, remains = c.Writer.(*replacedWriter)
		}, xhelper.Serve(xhelper.Config{}), func(c *gin.Context) {
			c.Writer = &replacedWriter{c.Writer}
			c.Next()
		})
		engine.GET("/", func(c *gin.Context) { c.Status(status) })
		if w := do(engine, http.MethodGet, "/"); w.Code != status || remains {
			t.Errorf("got %d, replaced writer remains = %t; want %d, false",
				w.Code, remains, status)
		}
	}
}

// bracketed is a middleware that encodes the response, like gzip.
func bracketed(c *gin.Context) {
	inner := c.Writer
	c.Header("Content-Encoding", "brackets")
	c.Writer = &bracketWriter{ResponseWriter: inner}
	c.Next()
}

type bracketWriter struct{ gin.ResponseWriter }

func (w *bracketWriter) Write(p []byte) (int, error) {
	_, err := fmt.Fprintf(w.ResponseWriter, "[%s]", p)
	return len(p), err
}

func TestServe_ContentEncoding(t *testing.T) {
	t.Run("is removed for the encoding of an inner middleware", func(t *testing.T) {
		engine, _ := newEngine(t, xhelper.Config{}, func(c *gin.Context) {
			c.Header("Content-Encoding", "brackets")
			c.Writer = &bracketWriter{ResponseWriter: c.Writer}
			c.Next()
		})
		engine.GET("/", func(c *gin.Context) { _ = c.Error(xerror.New(xerror.NotFound, "")) })
		engine.GET("/panic", func(*gin.Context) { panic("boom") })
		for path, want := range map[string]string{
			"/":      "NOT_FOUND",
			"/panic": "SERVER_INTERNAL_ERROR",
		} {
			w := do(engine, http.MethodGet, path)
			if got := decode(t, w.Body.String())["output"]; got != want ||
				w.Header().Get("Content-Encoding") != "" {
				t.Errorf("%s: got %v, Content-Encoding %q; want %s, not encoded",
					path, got, w.Header().Get("Content-Encoding"), want)
			}
		}
	})

	t.Run("remains for the encoding of an outer middleware", func(t *testing.T) {
		ctx, _ := capture(t)
		engine := gin.New()
		engine.Use(bracketed, xhelper.Serve(xhelper.Config{Base: ctx}))
		engine.GET("/", func(c *gin.Context) { _ = c.Error(xerror.New(xerror.NotFound, "")) })
		w := do(engine, http.MethodGet, "/")
		if got := w.Body.String(); !strings.HasPrefix(got, "[{") ||
			w.Header().Get("Content-Encoding") != "brackets" {
			t.Errorf("got %q, Content-Encoding %q; want an encoded body",
				got, w.Header().Get("Content-Encoding"))
		}
	})
}
