package xapi_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xoption"
)

type update struct {
	ID    xsnowflake.SnowflakeID `uri:"id" binding:"required"`
	Page  int                    `form:"page,default=3" binding:"max=10"`
	Trace string                 `header:"X-Trace"`
	Name  string                 `json:"name" binding:"required,min=3"`
}

type user struct {
	ID       xsnowflake.SnowflakeID `json:"id"`
	Name     string                 `json:"name"`
	Page     int
	Location string `header:"Location" json:"-"`
}

type users struct{}

func (users) Update(_ context.Context, in *update) (*user, error) {
	if in.Name == "nobody" {
		return nil, xerror.New(xerror.UserNotFound, "")
	}
	return &user{ID: in.ID, Name: in.Name, Page: in.Page, Location: "/x" + in.Trace}, nil
}

func TestSmoke(t *testing.T) {
	app := plinthtest.New(t, xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
		g := xapi.Group(e, "/api", xapi.Tag("users"))
		xapi.Put(g, "/users/:id", users{}.Update, xapi.Status(201))
	}))
	for _, body := range []any{gin.H{"name": "ada", "id": 7, "ID": 8}, gin.H{"name": "a"}, gin.H{"name": "nobody"}} {
		for _, path := range []string{"/api/users/5", "/api/users/x", "/api/users/5?page=11", "/api/users/5?page=4"} {
			r := app.Request(http.MethodPut, path, body, plinthtest.WithHeader("X-Trace", "t"))
			t.Log(path, body, r.Status(), r.Header().Get("Location"), r.Body())
		}
	}
	ops, err := xapi.Operations(app.Engine())
	t.Logf("%+v %v", ops[0], err)
}
