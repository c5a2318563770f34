package xmiddle

import (
	"context"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhttp"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// RequireReferer rejects requests without a Referer header with 403 FORBIDDEN.
//
// It is not a security measure: any client can send the header, and the value is not
// checked.
func RequireReferer(c *gin.Context) {
	if strings.TrimSpace(xhttp.Referer.Get(c.Request.Header)) == "" {
		xresult.AbortError(c, xerror.Forbidden, "the Referer header is missing", nil)
	}
}

// DebugOnly is middleware that enables its routes in debug mode only. Otherwise it
// responds with 401 UNAUTHORIZED.
func DebugOnly(c *gin.Context) {
	if !xctxutil.IsDebug(c.Request.Context()) {
		xresult.AbortError(c, xerror.Unauthorized, "", nil)
	}
}

// PermissionChecker reports whether the client of a request has a permission, such as
// "module:resource:action". The context is the *gin.Context of the request. An error
// becomes the response, for example xerror.Unauthorized if the client is not
// authenticated.
type PermissionChecker func(ctx context.Context, permission string) (bool, error)

// RequirePermission returns middleware that requires all of the named permissions. If one
// is missing, it responds with 403 PERMISSION_DENIED. The response does not contain the
// name of the permission.
//
// It panics if check is nil or names is empty.
func RequirePermission(check PermissionChecker, names ...string) gin.HandlerFunc {
	if check == nil || len(names) == 0 {
		panic("xmiddle: RequirePermission requires a checker and at least one permission")
	}
	return func(c *gin.Context) {
		for _, name := range names {
			granted, err := check(c, name)
			if err == nil && !granted {
				err = xerror.New(xerror.PermissionDenied, "")
			}
			if err != nil {
				c.Abort()
				xresult.Fail(c, err)
				return
			}
		}
	}
}
