// Package xroute provides handlers for unknown paths and unsupported methods.
//
//	engine.NoRoute(xroute.NoRoute)
//	engine.NoMethod(xroute.NoMethod)
package xroute

import (
	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// NoRoute responds with 404 PAGE_NOT_FOUND.
func NoRoute(c *gin.Context) { xresult.AbortError(c, xerror.PageNotFound, "", nil) }

// NoMethod responds with 405 METHOD_NOT_ALLOWED. The Allow header lists the methods of
// the path.
//
// gin calls NoMethod and sets the header if the engine's HandleMethodNotAllowed is true.
// Package xreg enables it.
func NoMethod(c *gin.Context) { xresult.AbortError(c, xerror.MethodNotAllowed, "", nil) }
