// Package route maps routes to the functions of the logic, which are typed handlers. The
// gRPC service calls the same functions.
package route

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/examples/grpc/internal/logic"
)

// Register registers the routes.
func Register(_ context.Context, engine *gin.Engine) {
	user := xapi.Group(engine, "/api/v1/user", xapi.Tag("user"))
	xapi.Post(user, "/register", logic.Register, xapi.Message("registered"),
		xapi.Errors(xerror.DuplicateEntry, xerror.ParameterError))
	xapi.Get(user, "/:id", logic.Find, xapi.Message("found"),
		xapi.Errors(xerror.ResourceNotFound))
}
