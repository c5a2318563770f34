// Command after serves orders after the last migration step.
package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/asyncx"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/cronx"
	"github.com/plinthgo/plinth/cronx/runner"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

var soldOut = xerror.MustErrorCode(40970, "SOLD_OUT", "Sold out", "已售罄")

var log = xlog.WithName(xlog.NamedLOGC, "order")

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
	xmain.Runner(reg, nil, nil, runner.New(runner.WithRegister(jobs()...)))
}

func options() []xoption.Option {
	return []xoption.Option{
		xoption.WithEnvDefaults(map[xenv.EnvKey]string{
			xenv.DatabaseDriver: "sqlite",
			"DATABASE_PATH":     "orders.db",
		}),
		xoption.WithDatabase(xoptdatabase.FromEnv(), xoptdatabase.WithAutoMigrate(&Order{})),
		xoption.WithRoute(routes),
		xoption.WithHealth(),
	}
}

func jobs() []*cronx.Job {
	return []*cronx.Job{cronx.NewJob("@hourly",
		clean, cronx.WithName("clean-orders"), cronx.WithSingleRun())}
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.POST("/orders", create)
}

func create(c *gin.Context) {
	request := xbind.Bind(c, &OrderRequest{}).Data()
	if request == nil {
		return // the error has been reported
	}
	order, err := place(c.Request.Context(), request.Item, request.Count)
	if err != nil {
		_ = c.Error(err)
		return
	}
	xresult.SuccessHasData(c, "ordered", order)
}

func place(ctx context.Context, item string, count int) (*Order, error) {
	if item == "gone" {
		return nil, xerror.New(soldOut, "")
	}
	order := &Order{Item: item, Count: count}
	if err := xdb.MustGetDB(ctx).Create(order).Error; err != nil {
		return nil, err // mapped to an error code; the text appears only in the log
	}
	log.Info(ctx, "ordered", slog.Any("order", order.ID), slog.Int("count", count))
	asyncx.Async(ctx, func(ctx context.Context) { notify(ctx, order) }, asyncx.WithName("notify"),
		asyncx.WithTimeout(10*time.Second))
	return order, nil
}

func clean(ctx context.Context) error {
	return xdb.MustGetDB(ctx).Where("created_at < ?",
		time.Now().AddDate(0, 0, -90)).Delete(&Order{}).Error
}

// notify is a placeholder for a message to the warehouse.
func notify(ctx context.Context, order *Order) {
	log.Debug(ctx, "warehouse notified", slog.Any("order", order.ID))
}
