// Package route maps routes to handlers.
package route

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/major/xmiddle"
	"github.com/plinthgo/plinth/examples/usercenter/internal/handler"
)

// Register registers the routes. Routes with java return the envelope of the Java
// library.
func Register(_ context.Context, engine *gin.Engine) {
	java := xmiddle.UseProfile(xbase.ProfileJava)

	engine.GET("/ping", handler.Ping)

	api := engine.Group("/api")
	api.GET("/ping", java, handler.APIPing)

	user := api.Group("/v1/user")
	user.POST("/register", handler.Register)
	user.POST("/login", handler.Login)
	user.POST("", java, handler.Create)
	user.GET("/:id", java, handler.Get)
}
