// Command first serves the same orders with the start, the stop and the request path of Plinth, and handlers as they were.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
	"github.com/plinthgo/plinth/examples/migration/orders"
)

// soldOut is what clients know as 409.
var soldOut = xError.MustErrorCode(40970, "SOLD_OUT", "Sold out", "已售罄")

func main() {
	xMain.Runner(xReg.Register(context.Background(), nil, options()...), nil, nil)
}

func options() []xOption.Option {
	return []xOption.Option{
		xOption.WithEnvDefaults(map[xEnv.EnvKey]string{
			xEnv.Host:           "0.0.0.0",
			xEnv.Port:           "8080",
			xEnv.DatabaseDriver: "sqlite",
			xEnv.DatabasePath:   xEnv.GetEnvString("DB_FILE", ""), // the name that deployments know
		}),
		xOption.WithDatabase(xOptDatabase.FromEnv(), xOptDatabase.WithAutoMigrate(&orders.Order{})),
		xOption.WithErrorMapper(xError.MapIs(orders.ErrSoldOut, soldOut)),
		xOption.WithRoute(routes),
		xOption.WithHealth(),
	}
}

func routes(ctx context.Context, engine *gin.Engine) {
	engine.Use(oldEnvelope)
	server := &orders.Server{DB: xDB.MustGetDB(ctx)}
	server.Routes(engine)
	engine.GET("/orders/:id", find)
}

// oldEnvelope answers errors in the shape that clients know.
func oldEnvelope(c *gin.Context) {
	c.Next()
	last := c.Errors.Last()
	if last == nil || c.Writer.Written() {
		return
	}
	e := xError.From(last.Err)
	status := e.GetErrorCode().Status()
	message := string(e.GetErrorMessage())
	if message == "" {
		message = e.GetErrorCode().Message(xError.Language(c))
	}
	c.JSON(status, gin.H{"code": status, "msg": message})
}

// find is a new handler: it leaves its errors to whoever answers them.
func find(c *gin.Context) {
	var order orders.Order
	if err := xDB.MustGetDB(c).First(&order, c.Param("id")).Error; err != nil {
		_ = c.Error(err)
		return
	}
	c.JSON(200, gin.H{"code": 0, "msg": "ok", "data": order})
}
