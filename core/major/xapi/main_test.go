package xapi_test

import (
	"context"
	"testing"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xoption"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	goleak.VerifyTestMain(m)
}

// serve returns an application with routes.
func serve(t *testing.T, routes func(*gin.Engine)) *plinthtest.App {
	t.Helper()
	return plinthtest.New(t,
		xoption.WithRoute(func(_ context.Context, e *gin.Engine) { routes(e) }))
}

// operation returns the only operation of an engine, which must be valid.
func operation(t *testing.T, routes func(*gin.Engine)) *xapi.Operation {
	t.Helper()
	e := gin.New()
	routes(e)
	list, err := xapi.Operations(e)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d operations, %v; want 1", len(list), err)
	}
	return list[0]
}
