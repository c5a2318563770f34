package snippets_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

func TestJavaEntity(t *testing.T) {
	t.Parallel()

	t.Run("has a version and a soft delete column", func(t *testing.T) {
		t.Parallel()
		type Account struct {
			xmodels.BaseEntityWithSoftDelete
			Owner   string          `gorm:"size:64;not null" json:"owner"`
			Balance int64           `json:"balance"`
			Version xmodels.Version `json:"version"`
		}
		files := fstest.MapFS{"0001_owner.sql": {Data: []byte(
			"CREATE INDEX ${prefix}accounts_owner ON ${prefix}accounts (owner);")}}
		app := plinthtest.New(t, xoption.WithProfile(xbase.ProfileJava), xoption.WithDatabase(
			xoptdatabase.FromEnv(),
			xoptdatabase.WithAutoMigrate(&Account{}),
			xoptdatabase.WithMigrations(files),
		), xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
			engine.POST("/stale", func(c *gin.Context) {
				_ = c.Error(xerror.New(xerror.OptimisticLock, ""))
			})
		}))
		db := xdb.MustGetDB(app.Context())
		account := Account{Owner: "Ada", Balance: 10}
		if err := db.Create(&account).Error; err != nil || account.ID.IsZero() ||
			account.Version != 1 {
			t.Fatalf("Create = %v, %+v", err, account)
		}
		stale := account
		if err := db.Model(&account).Update("balance", 20).Error; err != nil {
			t.Fatal(err)
		}
		err := db.Model(&stale).Update("balance", 30).Error
		if !errors.Is(err, xerror.OptimisticLock) {
			t.Errorf("Update = %v", err)
		}
		if r := app.Request(http.MethodPost, "/stale", nil); r.Status() != http.StatusConflict ||
			r.Code() != 40018 {
			t.Errorf("stale = %d %s", r.Status(), r.Body())
		}
		if err := db.Delete(&account).Error; err != nil {
			t.Fatal(err)
		}
		var n int64
		if err := db.Model(&Account{}).Count(&n).Error; err != nil || n != 0 {
			t.Errorf("Count = %d, %v, want 0", n, err)
		}
	})

	t.Run("accepts the columns of a Java table", func(t *testing.T) {
		t.Parallel()
		type Order struct {
			ID         xsnowflake.SnowflakeID `gorm:"column:order_id;primaryKey;autoIncrement:false" json:"id"`
			CreateTime time.Time              `gorm:"autoCreateTime"                                 json:"createTime"`
			UpdateTime time.Time              `gorm:"autoUpdateTime"                                 json:"updateTime"`
		}
		app := plinthtest.New(t, xoption.WithDatabase(xoptdatabase.FromEnv(),
			xoptdatabase.WithAutoMigrate(&Order{})))
		order := Order{}
		if err := xdb.MustGetDB(app.Context()).Create(&order).Error; err != nil ||
			order.ID.IsZero() || order.CreateTime.IsZero() {
			t.Errorf("Create = %v, %+v", err, order)
		}
	})
}
