package xbind_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	binding.Validator = xvalid.GinBinding{} // as in xreg
	os.Exit(m.Run())
}

// request returns the context of a POST request with a body and pairs of headers.
func request(body string, header ...string) *gin.Context {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/",
		strings.NewReader(body))
	c.Request.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		c.Request.Header.Set(header[i], header[i+1])
	}
	return c
}

// reported returns the error of an aborted context, which must be the only one.
func reported(t *testing.T, c *gin.Context) *xerror.Error {
	t.Helper()
	if len(c.Errors) != 1 || !c.IsAborted() {
		t.Fatalf("errors %v, aborted %v; want one error, aborted", c.Errors, c.IsAborted())
	}
	return xerror.From(c.Errors[0].Err)
}

// failedFields returns "field:tag" for each failure of an error.
func failedFields(e *xerror.Error) string {
	list, _ := e.GetData().([]xvalid.FieldError)
	var b strings.Builder
	for i, f := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f.Field + ":" + f.Tag)
	}
	return b.String()
}
