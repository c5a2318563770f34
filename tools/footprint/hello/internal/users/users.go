// Package users is program core with a database and a validated request. Its programs
// select the driver.
package users

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xresult"
)

type user struct {
	xmodels.BaseEntity
	Name string `json:"name" binding:"required"`
}

// Main runs the service.
func Main() {
	reg := xreg.Register(context.Background(), nil,
		xoption.WithDatabase(xoptdatabase.FromEnv(), xoptdatabase.WithAutoMigrate(&user{})),
		xoption.WithRoute(routes), xoption.WithHealth())
	xmain.Runner(reg, nil, nil)
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.POST("/users", func(c *gin.Context) {
		u := xbind.Bind(c, &user{}).Data()
		if u == nil {
			return
		}
		if err := xdb.MustGetDB(c).Create(u).Error; err != nil {
			_ = c.Error(err)
			return
		}
		xresult.SuccessHasData(c, "created", u)
	})
}
