package xresult_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func TestFail_ContextCause(t *testing.T) {
	stopping := xerror.Wrap(xerror.ServiceUnavailable, "the service is stopping", context.Canceled)
	for _, tc := range []struct {
		name  string
		cause error
		err   error
		want  int
	}{
		{
			name: "the service canceled the request", cause: stopping,
			err: context.Canceled, want: http.StatusServiceUnavailable,
		},
		{
			name: "the service canceled the request, wrapped error", cause: stopping,
			err: fmt.Errorf("read: %w", context.Canceled), want: http.StatusServiceUnavailable,
		},
		{
			name: "the client disconnected", cause: nil,
			err: context.Canceled, want: http.StatusBadRequest,
		},
		{
			name: "the handler returns another error", cause: stopping,
			err: xerror.New(xerror.NotFound, ""), want: http.StatusNotFound,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(tc.cause)
			w := httptest.NewRecorder()
			c, _ := gin.CreateTestContext(w)
			c.Request = httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
			if xresult.Fail(c, tc.err); w.Code != tc.want {
				t.Errorf("status = %d, want %d: %s", w.Code, tc.want, w.Body)
			}
		})
	}
}

func TestFail(t *testing.T) {
	t.Run("hides the cause from the client", func(t *testing.T) {
		secret := errors.New("dial tcp 10.0.0.7:5432: SELECT * FROM users")
		for _, accept := range []string{"application/json", "application/problem+json"} {
			t.Run(accept, func(t *testing.T) {
				w, log := serve(t, xhelper.Config{},
					func(c *gin.Context) { xresult.Fail(c, secret) }, "Accept", accept)
				wantFields(t, w.Body.String(),
					map[string]any{"output": "SERVER_INTERNAL_ERROR", "code": 50000.0})
				if strings.Contains(w.Body.String(), "10.0.0.7") ||
					strings.Contains(w.Body.String(), "SELECT") {
					t.Errorf("body contains the cause: %s", w.Body)
				}
				if !strings.Contains(log.String(), "10.0.0.7") {
					t.Errorf("log does not contain the cause: %s", log)
				}
			})
		}
	})

	t.Run("does nothing without an error", func(t *testing.T) {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		xresult.Fail(c, nil)
		xresult.Fail(c, (*xerror.Error)(nil))
		if c.Writer.Written() {
			t.Error("Fail wrote a response")
		}
	})
}

func TestFailStatus(t *testing.T) {
	t.Run("sets the status in problem details", func(t *testing.T) {
		w, _ := serve(t, xhelper.Config{}, func(c *gin.Context) {
			xresult.FailStatus(c, http.StatusPreconditionFailed, xerror.New(xerror.BadRequest, ""))
		}, "Accept", "application/problem+json")
		wantFields(t, w.Body.String(), map[string]any{
			"status": 412.0, "title": "Precondition Failed", "output": "BAD_REQUEST",
		})
		if w.Code != http.StatusPreconditionFailed {
			t.Errorf("status = %d, want 412", w.Code)
		}
	})

	t.Run("uses the status of the code for other statuses", func(t *testing.T) {
		for _, status := range []int{-1, 0, 99, 200, 399, 600, 40400} {
			w, _ := serve(t, xhelper.Config{}, func(c *gin.Context) {
				xresult.FailStatus(c, status, xerror.New(xerror.NotFound, ""))
			})
			if w.Code != http.StatusNotFound {
				t.Errorf("FailStatus(%d): status = %d, want 404", status, w.Code)
			}
		}
	})
}

func TestError_ProblemDetails(t *testing.T) {
	const problem, envelope = "application/problem+json", "application/json; charset=utf-8"
	for _, tc := range []struct {
		name   string
		accept []string
		want   string
	}{
		{name: "no header", want: envelope},
		{name: "anything", accept: []string{"*/*"}, want: envelope},
		{name: "any application type", accept: []string{"application/*"}, want: envelope},
		{name: "json", accept: []string{"application/json"}, want: envelope},
		{name: "problem", accept: []string{"application/problem+json"}, want: problem},
		{name: "problem in capitals", accept: []string{"Application/Problem+JSON"}, want: problem},
		{
			name: "both", accept: []string{"application/json, application/problem+json"},
			want: problem,
		},
		{
			name:   "both on two lines",
			accept: []string{"application/json", "application/problem+json"}, want: problem,
		},
		{
			name:   "json preferred",
			accept: []string{"application/problem+json;q=0.5, application/json"}, want: envelope,
		},
		{
			name:   "problem preferred",
			accept: []string{"application/problem+json;q=0.9, application/json;q=0.4"},
			want:   problem,
		},
		{
			name:   "anything preferred",
			accept: []string{"application/problem+json;q=0.1,*/*"}, want: envelope,
		},
		{
			name:   "problem rejected",
			accept: []string{"application/problem+json;q=0"}, want: envelope,
		},
		{
			name:   "zero with decimals",
			accept: []string{"application/problem+json;q=0.000"}, want: envelope,
		},
		{
			name:   "malformed weight",
			accept: []string{"application/problem+json;q=abc"}, want: envelope,
		},
		{
			name:   "weight over one",
			accept: []string{"application/problem+json;q=1.5, application/json"}, want: problem,
		},
		{
			name:   "other parameters",
			accept: []string{`application/problem+json; charset=utf-8; Q=1`}, want: problem,
		},
		{name: "nonsense", accept: []string{";;,,q=1,/"}, want: envelope},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var header []string
			for _, line := range tc.accept {
				header = append(header, "Accept", line)
			}
			w, _ := serve(t, xhelper.Config{},
				func(c *gin.Context) { xresult.Error(c, xerror.NotFound, "", nil) }, header...)
			if got := w.Header().Get("Content-Type"); got != tc.want {
				t.Errorf("Content-Type = %q, want %q", got, tc.want)
			}
			if w.Code != http.StatusNotFound {
				t.Errorf("status = %d, want 404", w.Code)
			}
		})
	}
}

func TestError_Headers(t *testing.T) {
	t.Run("removes headers of another response", func(t *testing.T) {
		w, _ := serve(t, xhelper.Config{}, func(c *gin.Context) {
			c.Header("Content-Length", "3")
			c.Header("Content-Disposition", "attachment")
			c.Header("ETag", `"1"`)
			c.Header("Last-Modified", "yesterday")
			c.Header("Cache-Control", "max-age=60")
			c.Header("X-Kept", "yes")
			xresult.Error(c, xerror.NotFound, "", nil)
		})
		for header, want := range map[string]string{
			"Content-Length": "", "Content-Disposition": "", "ETag": "", "Last-Modified": "",
			"Cache-Control": "no-store", "X-Kept": "yes",
		} {
			if got := w.Header().Get(header); got != want {
				t.Errorf("%s = %q, want %q", header, got, want)
			}
		}
	})

	t.Run("does not share values added to Vary", func(t *testing.T) {
		for want, handler := range map[string]gin.HandlerFunc{
			"[Accept, Accept-Language Cookie]": func(c *gin.Context) {
				xresult.Error(c, xerror.NotExist, "", nil)
				c.Writer.Header().Add("Vary", "Cookie")
			},
			"[Origin Accept, Accept-Language]": func(c *gin.Context) {
				c.Header("Vary", "Origin")
				xresult.Error(c, xerror.NotExist, "", nil)
			},
			"[Accept, Accept-Language]": func(c *gin.Context) {
				xresult.Error(c, xerror.NotExist, "", nil)
			},
		} {
			w, _ := serve(t, xhelper.Config{}, handler)
			if got := fmt.Sprint(w.Header().Values("Vary")); got != want {
				t.Errorf("Vary = %s, want %s", got, want)
			}
		}
	})
}
