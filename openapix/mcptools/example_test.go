package mcptools_test //nolint:testableexamples // the example runs a service

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/openapix"
	"github.com/plinthgo/plinth/openapix/mcptools"
)

type order struct {
	ID     int    `json:"id,string"`
	Status string `json:"status"`
}

type getOrder struct {
	ID int `uri:"id" binding:"gt=0" doc:"ID of the order."`
}

func findOrder(_ context.Context, in *getOrder) (*order, error) {
	if in.ID != 7 {
		return nil, xerror.New(xerror.ResourceNotFound, "")
	}
	return &order{ID: 7, Status: "paid"}, nil
}

func orders(_ context.Context, engine *gin.Engine) {
	xapi.Get(engine, "/orders/:id", findOrder, xapi.Tag("orders"),
		xapi.Summary("Get an order"), xapi.Errors(xerror.ResourceNotFound))
}

// The service offers the tool findOrder at POST /mcp, next to its API and the document.
func ExampleServe() {
	document := []openapix.Option{openapix.WithTitle("Shop")}
	reg := xreg.Register(context.Background(), nil,
		xoption.WithRoute(orders),
		openapix.Serve(document...),
		mcptools.Serve(mcptools.WithDocument(document...), mcptools.WithTags("orders")),
	)
	xmain.Runner(reg, nil, nil)
}
