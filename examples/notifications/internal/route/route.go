// Package route says which handler answers what.
package route

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/examples/notifications/internal/handler"
	"github.com/plinthgo/plinth/examples/notifications/internal/notify"
)

// Register registers the routes. Those of jobs are an operator's: a service has them
// behind a guard, such as xmiddle.RequirePermission.
func Register(ctx context.Context, engine *gin.Engine) {
	api := engine.Group("/api/v1")
	api.POST("/signup", handler.SignUp)

	jobs := api.Group("/jobs")
	jobs.GET("/dead", handler.DeadJobs)
	jobs.POST("/:id/replay", handler.Replay)

	engine.POST(notify.HookPath, notify.Verify(ctx), handler.Hook)
}
