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

// RequireReferer refuses requests without a Referer header with 403 FORBIDDEN.
//
// It keeps links to resources within sites; it is no protection, since any client can
// send the header.
func RequireReferer(c *gin.Context) {
	if strings.TrimSpace(xhttp.Referer.Get(c.Request.Header)) == "" {
		xresult.AbortError(c, xerror.Forbidden, "the Referer header is missing", nil)
	}
}

// DebugOnly opens its routes in debug mode only; else the answer is 401 UNAUTHORIZED.
func DebugOnly(c *gin.Context) {
	if !xctxutil.IsDebug(c.Request.Context()) {
		xresult.AbortError(c, xerror.Unauthorized, "", nil)
	}
}

// PermissionChecker says whether the client of a request has a permission, such as
// "module:resource:action". The context is the *gin.Context of the request. An error
// answers the request, for example with xerror.Unauthorized where nobody is logged in.
type PermissionChecker func(ctx context.Context, permission string) (bool, error)

// RequirePermission lets a request pass that has all the permissions. One that is missing
// is answered with 403 PERMISSION_DENIED, without its name.
//
// It panics without a checker or without a name: a guard that guards nothing is a
// mistake.
func RequirePermission(check PermissionChecker, names ...string) gin.HandlerFunc {
	if check == nil || len(names) == 0 {
		panic("xmiddle: RequirePermission needs a checker and at least one permission")
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
