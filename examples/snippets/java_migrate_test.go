package snippets_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	xBase "github.com/plinthgo/plinth/core/common/xbase"
	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	xModels "github.com/plinthgo/plinth/core/major/xmodels"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
)

func TestJavaServiceIsReplacedRouteByRoute(t *testing.T) {
	t.Parallel()
	type User struct {
		xModels.BaseEntity
		Name string `gorm:"size:64;not null" json:"name"`
	}
	routes := func(_ context.Context, engine *gin.Engine) {
		engine.POST("/user", func(c *gin.Context) {
			user := User{Name: "Ada"}
			if err := xDB.MustGetDB(c.Request.Context()).Create(&user).Error; err != nil {
				_ = c.Error(err)
				return
			}
			xResult.SuccessHasData(c, "created", user)
		})
	}
	options := []xOption.Option{
		xOption.WithProfile(xBase.ProfileJava),
		xOption.WithSnowflake(
			xSnowflake.WithLayout(javaLayout()), xSnowflake.WithDatacenterID(31), xSnowflake.WithNodeID(7),
		),
		xOption.WithDatabase(xOptDatabase.FromEnv()),
		xOption.WithRoute(routes),
		xOption.WithHealth(),
	}
	app := plinthtest.New(t, append(options, xOption.WithDatabase(xOptDatabase.WithAutoMigrate(&User{})))...)
	var user User
	r := app.Request(http.MethodPost, "/user", nil)
	r.Into(&user)
	if info := javaLayout().Parse(user.ID); info.DatacenterID != 31 || info.NodeID != 7 {
		t.Errorf("user = %s, made by %+v", r.Body(), info)
	}
}
