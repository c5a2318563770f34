package xreg_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

func TestRegister_Inspect(t *testing.T) {
	const key xctx.ContextKey = "inspected"
	failed := errors.New("cannot write")
	closed := errors.New("opened")
	node := xregnode.Node{Key: key, Node: func(context.Context) (any, error) { return nil, closed }}
	for _, tc := range []struct {
		name   string
		env    string // value of PLINTH_PORT
		result error  // of the inspection
		routes func(context.Context, *gin.Engine)
		code   int
		log    string // part of the log; empty for an empty log
	}{
		{name: "registers the routes and opens nothing", env: "abc"},
		{
			name: "fails with the error of the inspection", result: failed, code: 1,
			log: "start failed: cannot write",
		},
		{
			name: "fails with the fix if the routes need a node", code: 1,
			routes: func(ctx context.Context, _ *gin.Engine) { xctxutil.MustGet[int](ctx, key) },
			log:    "handlers must get them from the context of the request",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("PLINTH_PORT", tc.env)
			code := -1
			defer xreg.SetExit(func(c int) { code = c })()
			base, out := isolated(t)
			paths := 0
			reg := xreg.Register(t.Context(), []xregnode.Node{node}, base,
				xoption.WithRequiredDatabase(),
				xoption.WithInspect(func(e *gin.Engine) error {
					paths = len(e.Routes())
					return tc.result
				}),
				xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
					e.GET("/inspected", func(*gin.Context) {})
				}),
				xoption.WithRoute(func(ctx context.Context, e *gin.Engine) {
					if tc.routes != nil {
						tc.routes(ctx, e)
					}
				}))
			if reg != nil || code != tc.code {
				t.Errorf("Register = %v with exit code %d, want nil and %d", reg, code, tc.code)
			}
			if tc.routes == nil && paths != 1 {
				t.Errorf("the inspection received %d routes, want 1", paths)
			}
			if text := out.String(); !strings.Contains(text, tc.log) || tc.log == "" && text != "" {
				t.Errorf("log\n%s\nwant %q", text, tc.log)
			}
		})
	}
}

func TestNew_InspectWithoutOption(t *testing.T) {
	t.Setenv("PLINTH_INSPECT", "openapix.Serve()")
	base, _ := isolated(t)
	reg, err := xreg.New(t.Context(), nil, base, xoption.WithRoute(
		func(context.Context, *gin.Engine) { t.Error("the routes were registered") }))
	if reg != nil || err == nil || !strings.Contains(err.Error(), "add openapix.Serve() to the options") {
		t.Errorf("New = %v, %v, want an error with the option to add", reg, err)
	}
}
