package xresult_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func TestARequestThatTheServiceCutsOffIsNotTheClientsFault(t *testing.T) {
	stopping := xerror.Wrap(xerror.ServiceUnavailable, "the service is stopping", context.Canceled)
	for _, tc := range []struct {
		name  string
		cause error
		err   error
		want  int
	}{
		{
			name:  "the service has ended it",
			cause: stopping, err: context.Canceled, want: http.StatusServiceUnavailable,
		},
		{
			name: "and the error is wrapped", cause: stopping,
			err: fmt.Errorf("read: %w", context.Canceled), want: http.StatusServiceUnavailable,
		},
		{
			name:  "the client has gone",
			cause: nil, err: context.Canceled, want: http.StatusBadRequest,
		},
		{
			name:  "the handler says something else",
			cause: stopping, err: xerror.New(xerror.NotFound, ""), want: http.StatusNotFound,
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
