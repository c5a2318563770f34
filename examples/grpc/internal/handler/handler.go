// Package handler implements the HTTP handlers of users.
package handler

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/examples/grpc/internal/logic"
	"github.com/plinthgo/plinth/examples/grpc/internal/rule"
)

// Route registers the routes.
func Route(_ context.Context, engine *gin.Engine) {
	user := engine.Group("/api/v1/user")
	user.POST("/register", Register)
	user.GET("/:id", Get)
}

// Register handles POST /api/v1/user/register.
func Register(c *gin.Context) {
	request := xbind.Bind(c, &rule.Registration{}).Data()
	if request == nil {
		return
	}
	user, err := logic.Register(c.Request.Context(), *request)
	if err != nil {
		_ = c.Error(err)
		return
	}
	xresult.SuccessHasData(c, "registered", user)
}

// Get handles GET /api/v1/user/{id}.
func Get(c *gin.Context) {
	id, err := xsnowflake.ParseSnowflakeID(c.Param("id"))
	if err != nil || id.IsZero() {
		_ = c.Error(xerror.Wrap(xerror.ParameterError, "invalid user id", err))
		return
	}
	user, err := logic.Find(c.Request.Context(), id)
	if err != nil {
		_ = c.Error(err)
		return
	}
	xresult.SuccessHasData(c, "found", user)
}
