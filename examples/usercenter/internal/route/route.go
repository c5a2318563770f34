// Package route maps routes to handlers.
package route

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/examples/usercenter/internal/handler"
)

// Register registers the routes. Routes with java return the envelope of the Java
// library.
func Register(_ context.Context, engine *gin.Engine) {
	java := xapi.Profile(xbase.ProfileJava)

	xapi.Get(engine, "/ping", handler.Ping, xapi.Tag("system"))
	xapi.Get(engine, "/api/ping", handler.APIPing, java, xapi.Tag("system"),
		xapi.Message("SUCCESS"))

	user := xapi.Group(engine, "/api/v1/user", xapi.Tag("user"))
	xapi.Post(user, "/register", handler.RegisterUser, xapi.Message("registered"),
		xapi.Errors(xerror.Existed, xerror.ParameterError))
	xapi.Post(user, "/login", handler.LogIn, xapi.Message("logged in"),
		xapi.Errors(xerror.UserNotFound, xerror.Unauthorized))
	xapi.Post(user, "", handler.CreateUser, java, xapi.Message("created"),
		xapi.Errors(xerror.Existed, xerror.ParameterError))
	xapi.Get(user, "/:id", handler.GetUser, java, xapi.Message("found"),
		xapi.Errors(xerror.NotExist))
}
