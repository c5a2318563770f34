// Package route registers the HTTP routes.
package route

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/examples/notifications/internal/handler"
	"github.com/plinthgo/plinth/examples/notifications/internal/notify"
)

// Register registers the routes. The routes of jobs are for operators: protect them in a
// real service, for example with xmiddle.RequirePermission.
func Register(ctx context.Context, engine *gin.Engine) {
	api := engine.Group("/api/v1")
	api.POST("/signup", handler.SignUp)

	jobs := api.Group("/jobs")
	jobs.GET("/dead", handler.DeadJobs)
	jobs.POST("/:id/replay", handler.Replay)

	engine.POST(notify.HookPath, notify.Verify(ctx), handler.Hook)
}
