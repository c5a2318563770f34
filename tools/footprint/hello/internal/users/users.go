// Package users is program core with a database and a validated request; its programs choose the driver.
package users

import (
	"context"

	"github.com/gin-gonic/gin"

	xBind "github.com/plinthgo/plinth/core/major/xbind"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xModels "github.com/plinthgo/plinth/core/major/xmodels"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
)

type user struct {
	xModels.BaseEntity
	Name string `json:"name" binding:"required"`
}

// Main is the program.
func Main() {
	reg := xReg.Register(context.Background(), nil,
		xOption.WithDatabase(xOptDatabase.FromEnv(), xOptDatabase.WithAutoMigrate(&user{})),
		xOption.WithRoute(routes), xOption.WithHealth())
	xMain.Runner(reg, nil, nil)
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.POST("/users", func(c *gin.Context) {
		u := xBind.Bind(c, &user{}).Data()
		if u == nil {
			return
		}
		if err := xDB.MustGetDB(c).Create(u).Error; err != nil {
			_ = c.Error(err)
			return
		}
		xResult.SuccessHasData(c, "created", u)
	})
}
