package xhelper_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xhelper"
)

// transferEngine returns an engine whose route /outer sends a request to /inner after it
// has read its own body. Both bodies together exceed the budget.
func transferEngine(t *testing.T, mark bool, timeout time.Duration) *gin.Engine {
	t.Helper()
	const budget = 8
	engine, _ := newEngine(t, xhelper.Config{
		RequestTimeout: timeout, MaxBodyBytes: budget, MaxInflightBodyBytes: budget,
	})
	read := func(c *gin.Context) {
		if _, err := io.ReadAll(c.Request.Body); err != nil {
			_ = c.Error(err)
			return
		}
		c.Status(http.StatusNoContent)
	}
	engine.POST("/inner", read)
	engine.POST("/outer", func(c *gin.Context) {
		if mark {
			xhelper.MarkTransfer(c)
		}
		read(c)
		<-time.After(2 * timeout)
		if err := c.Request.Context().Err(); err != nil {
			_ = c.Error(err)
			return
		}
		c.Status(send(engine, fiveBytes(t, "/inner")).Code)
	})
	return engine
}

func fiveBytes(t *testing.T, path string) *http.Request {
	t.Helper()
	return httptest.NewRequestWithContext(t.Context(), http.MethodPost, path,
		struct{ io.Reader }{strings.NewReader("12345")})
}

func TestMarkTransfer(t *testing.T) {
	for _, tc := range []struct {
		mark    bool
		timeout time.Duration
		want    int
	}{
		{false, time.Second, http.StatusGatewayTimeout},
		{false, -1, http.StatusServiceUnavailable},
		{true, time.Second, http.StatusNoContent},
	} {
		t.Run(fmt.Sprintf("marked %t with the timeout %s", tc.mark, tc.timeout), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := send(transferEngine(t, tc.mark, tc.timeout), fiveBytes(t, "/outer"))
				if w.Code != tc.want {
					t.Errorf("status = %d %s, want %d", w.Code, w.Body, tc.want)
				}
			})
		})
	}
}
