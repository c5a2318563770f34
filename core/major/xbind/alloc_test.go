package xbind_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xbind"
)

// The budgets in performance.md apply to a whole request. The middleware makes four more
// allocations.
func TestBinder_Data_Allocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector empties pools")
	}
	for _, tc := range []struct {
		name, body string
		want       float64
	}{
		{"valid", benchValid, 11},
		{"three failures", benchInvalid, 34},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, rewind := benchContext(tc.body)
			got := testing.AllocsPerRun(200, func() {
				rewind()
				bindWithXBind(c)
			})
			if got > tc.want {
				t.Errorf("%v allocations, want at most %v", got, tc.want)
			}
		})
	}
}

// benchRequest has the three fields of the targets in performance.md.
type benchRequest struct {
	Username string `json:"username" binding:"required,min=3,max=32"`
	Email    string `json:"email"    binding:"required,email"`
	Password string `json:"password" binding:"required,min=6"`
}

const (
	benchValid   = `{"username":"ada_lovelace","email":"ada@example.com","password":"correct horse"}`
	benchInvalid = `{"username":"ad","email":"ada.example.com","password":"horse"}`
)

type benchBody struct{ bytes.Reader }

func (*benchBody) Close() error { return nil }

// benchContext returns a gin context for a body, and a function that rewinds it.
func benchContext(text string) (c *gin.Context, rewind func()) {
	c, _ = gin.CreateTestContext(httptest.NewRecorder())
	body := &benchBody{}
	c.Request = httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/", nil)
	c.Request.Header.Set("Content-Type", "application/json")
	c.Request.ContentLength = int64(len(text))
	data := []byte(text)
	return c, func() {
		body.Reset(data)
		c.Request.Body = body
		c.Errors = c.Errors[:0]
	}
}

func bindWithXBind(c *gin.Context) bool {
	return xbind.Bind(c, &benchRequest{}).Data() != nil
}
