// Command first serves the same orders after the first migration step: Plinth starts the
// service, handles requests and shuts it down. The handlers are unchanged.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
	"github.com/plinthgo/plinth/examples/migration/orders"
)

// soldOut has the status 409 that clients expect.
var soldOut = xerror.MustErrorCode(40970, "SOLD_OUT", "Sold out", "已售罄")

func main() {
	xmain.Runner(xreg.Register(context.Background(), nil, options()...), nil, nil)
}

func options() []xoption.Option {
	return []xoption.Option{
		xoption.WithEnvDefaults(map[xenv.EnvKey]string{
			xenv.Host:           "0.0.0.0",
			xenv.Port:           "8080",
			xenv.DatabaseDriver: "sqlite",
			"DATABASE_PATH":     xenv.GetEnvString("DB_FILE", ""), // the name that deployments use
		}),
		xoption.WithDatabase(xoptdatabase.FromEnv(), xoptdatabase.WithAutoMigrate(&orders.Order{})),
		xoption.WithErrorMapper(xerror.MapIs(orders.ErrSoldOut, soldOut)),
		xoption.WithRoute(routes),
		xoption.WithHealth(),
	}
}

func routes(ctx context.Context, engine *gin.Engine) {
	engine.Use(oldEnvelope)
	server := &orders.Server{DB: xdb.MustGetDB(ctx)}
	server.Routes(engine)
	engine.GET("/orders/:id", find)
}

// oldEnvelope writes errors in the envelope of the old service.
func oldEnvelope(c *gin.Context) {
	c.Next()
	last := c.Errors.Last()
	if last == nil || c.Writer.Written() {
		return
	}
	e := xerror.From(last.Err)
	status := e.GetErrorCode().Status()
	message := string(e.GetErrorMessage())
	if message == "" {
		message = e.GetErrorCode().Message(xerror.Language(c))
	}
	c.JSON(status, gin.H{"code": status, "msg": message})
}

// find is a new handler. It passes errors to c.Error.
func find(c *gin.Context) {
	var order orders.Order
	if err := xdb.MustGetDB(c).First(&order, c.Param("id")).Error; err != nil {
		_ = c.Error(err)
		return
	}
	c.JSON(200, gin.H{"code": 0, "msg": "ok", "data": order})
}
