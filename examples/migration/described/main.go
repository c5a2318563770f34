// Command described serves orders with a typed handler and an OpenAPI document.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
	"github.com/plinthgo/plinth/openapix"
)

var soldOut = xerror.MustErrorCode(40970, "SOLD_OUT", "Sold out", "已售罄")

// Order is the order of a customer.
type Order struct {
	xmodels.BaseEntity
	Item  string `gorm:"size:64;not null" json:"item"`
	Count int    `json:"count"`
}

// OrderRequest is the body of POST /orders.
type OrderRequest struct {
	Item  string `binding:"required,max=64"        json:"item"`
	Count int    `binding:"required,min=1,max=100" json:"count"`
}

func main() {
	reg := xreg.Register(context.Background(), nil, options()...)
	xmain.Runner(reg, nil, nil)
}

func options() []xoption.Option {
	return []xoption.Option{
		xoption.WithEnvDefaults(map[xenv.EnvKey]string{
			xenv.DatabaseDriver: "sqlite",
			"DATABASE_PATH":     "orders.db",
		}),
		xoption.WithDatabase(xoptdatabase.FromEnv(), xoptdatabase.WithAutoMigrate(&Order{})),
		xoption.WithRoute(routes),
		openapix.Serve(openapix.WithTitle("Orders")),
	}
}

func routes(_ context.Context, engine *gin.Engine) {
	xapi.Post(engine, "/orders", createOrder, xapi.Tag("orders"), xapi.Errors(soldOut))
}

// createOrder creates an order.
func createOrder(ctx context.Context, in *OrderRequest) (*Order, error) {
	if in.Item == "gone" {
		return nil, xerror.New(soldOut, "")
	}
	order := &Order{Item: in.Item, Count: in.Count}
	return order, xdb.MustGetDB(ctx).Create(order).Error
}
