package main

import (
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/plinthtest"
)

func TestServe_OldEnvelope(t *testing.T) {
	app := plinthtest.New(t, options()...)
	for _, tc := range []struct {
		name, method, path string
		body               any
		status             int
		want               string
	}{
		{
			name: "old handler", method: "POST", path: "/orders",
			body: gin.H{"item": "tea", "count": 2}, status: 200, want: `"msg":"ok"`,
		},
		{
			name: "old error", method: "POST", path: "/orders",
			body:   gin.H{"item": "gone", "count": 2},
			status: 409, want: `{"code":409,"msg":"sold out"}`,
		},
		{
			name: "old validation error", method: "POST", path: "/orders",
			body: gin.H{"item": "tea"}, status: 400, want: `"code":400`,
		},
		{name: "new handler", method: "GET", path: "/orders/1", status: 200, want: `"item":"tea"`},
		{
			name: "new error", method: "GET", path: "/orders/7",
			status: 404, want: `{"code":404,"msg":"The record does not exist"}`,
		},
		{
			name: "unknown path", method: "GET", path: "/nothing",
			status: 404, want: `"output":"PAGE_NOT_FOUND"`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := app.Request(tc.method, tc.path, tc.body)
			if r.Status() != tc.status || !strings.Contains(r.Body(), tc.want) {
				t.Errorf("response = %d %s, want %d with %s",
					r.Status(), r.Body(), tc.status, tc.want)
			}
		})
	}
}
