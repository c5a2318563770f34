// Command after serves orders as a service does that began with Plinth.
package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/gin-gonic/gin"

	xAsync "github.com/plinthgo/plinth/asyncx"
	xError "github.com/plinthgo/plinth/core/common/xerror"
	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	xBind "github.com/plinthgo/plinth/core/major/xbind"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xModels "github.com/plinthgo/plinth/core/major/xmodels"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
	xCron "github.com/plinthgo/plinth/cronx"
	xCronRunner "github.com/plinthgo/plinth/cronx/runner"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

var soldOut = xError.MustErrorCode(40970, "SOLD_OUT", "Sold out", "已售罄")

var log = xLog.WithName(xLog.NamedLOGC, "order")

// Order is what somebody has ordered.
type Order struct {
	xModels.BaseEntity
	Item  string `gorm:"size:64;not null" json:"item"`
	Count int    `json:"count"`
}

// OrderRequest is what a client sends.
type OrderRequest struct {
	Item  string `binding:"required,max=64"        json:"item"`
	Count int    `binding:"required,min=1,max=100" json:"count"`
}

func main() {
	reg := xReg.Register(context.Background(), nil, options()...)
	xMain.Runner(reg, nil, nil, xCronRunner.New(xCronRunner.WithRegister(jobs()...)))
}

func options() []xOption.Option {
	return []xOption.Option{
		xOption.WithEnvDefaults(map[xEnv.EnvKey]string{xEnv.DatabaseDriver: "sqlite", xEnv.DatabasePath: "orders.db"}),
		xOption.WithDatabase(xOptDatabase.FromEnv(), xOptDatabase.WithAutoMigrate(&Order{})),
		xOption.WithRoute(routes),
		xOption.WithHealth(),
	}
}

func jobs() []*xCron.Job {
	return []*xCron.Job{xCron.NewJob("@hourly", clean, xCron.WithName("clean-orders"), xCron.WithSingleRun())}
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.POST("/orders", create)
}

func create(c *gin.Context) {
	request := xBind.Bind(c, &OrderRequest{}).Data()
	if request == nil {
		return // the error has been reported
	}
	order, err := place(c.Request.Context(), request.Item, request.Count)
	if err != nil {
		_ = c.Error(err)
		return
	}
	xResult.SuccessHasData(c, "ordered", order)
}

func place(ctx context.Context, item string, count int) (*Order, error) {
	if item == "gone" {
		return nil, xError.New(soldOut, "")
	}
	order := &Order{Item: item, Count: count}
	if err := xDB.MustGetDB(ctx).Create(order).Error; err != nil {
		return nil, err // its code is found, its text stays in the log
	}
	log.Info(ctx, "ordered", slog.Any("order", order.ID), slog.Int("count", count))
	xAsync.Async(ctx, func(ctx context.Context) { tell(ctx, order) }, xAsync.WithName("tell"), xAsync.WithTimeout(10*time.Second))
	return order, nil
}

func clean(ctx context.Context) error {
	return xDB.MustGetDB(ctx).Where("created_at < ?", time.Now().AddDate(0, 0, -90)).Delete(&Order{}).Error
}

// tell would send a message to the warehouse.
func tell(ctx context.Context, order *Order) { log.Debug(ctx, "told", slog.Any("order", order.ID)) }
