package snippets_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func TestJavaMigration(t *testing.T) {
	t.Parallel()
	type User struct {
		xmodels.BaseEntity
		Name string `gorm:"size:64;not null" json:"name"`
	}
	routes := func(_ context.Context, engine *gin.Engine) {
		engine.POST("/user", func(c *gin.Context) {
			user := User{Name: "Ada"}
			if err := xdb.MustGetDB(c.Request.Context()).Create(&user).Error; err != nil {
				_ = c.Error(err)
				return
			}
			xresult.SuccessHasData(c, "created", user)
		})
	}
	options := []xoption.Option{
		xoption.WithProfile(xbase.ProfileJava),
		xoption.WithSnowflake(
			xsnowflake.WithLayout(javaLayout()), xsnowflake.WithDatacenterID(31),
			xsnowflake.WithNodeID(7),
		),
		xoption.WithDatabase(xoptdatabase.FromEnv()),
		xoption.WithRoute(routes),
		xoption.WithHealth(),
	}
	app := plinthtest.New(t, append(options,
		xoption.WithDatabase(xoptdatabase.WithAutoMigrate(&User{})))...)
	var user User
	r := app.Request(http.MethodPost, "/user", nil)
	r.Into(&user)
	if info := javaLayout().Parse(user.ID); info.DatacenterID != 31 || info.NodeID != 7 {
		t.Errorf("user = %s, made by %+v", r.Body(), info)
	}
}
