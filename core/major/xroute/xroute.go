// Package xroute answers requests that no route takes.
//
//	engine.NoRoute(xroute.NoRoute)
//	engine.NoMethod(xroute.NoMethod)
package xroute

import (
	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// NoRoute answers an unknown path with 404 PAGE_NOT_FOUND.
func NoRoute(c *gin.Context) { xresult.AbortError(c, xerror.PageNotFound, "", nil) }

// NoMethod answers a known path with another method by 405 METHOD_NOT_ALLOWED. The Allow
// header lists the methods of the path.
//
// gin calls it, and sets the header, where the engine's HandleMethodNotAllowed is on;
// Plinth's registry switches that on.
func NoMethod(c *gin.Context) { xresult.AbortError(c, xerror.MethodNotAllowed, "", nil) }
