// Package probe asks the handler of a route for its description.
//
// gin knows only the function of a route. A typed handler of package xapi therefore
// responds to a probe: a call with a gin.Context that has no request.
package probe

import (
	"strings"

	"github.com/gin-gonic/gin"
)

// handlerPrefix is the start of the names of the functions that respond to a probe.
const handlerPrefix = "github.com/plinthgo/plinth/core/major/xapi."

// Route is a probed route.
type Route struct {
	Method, Path string

	// Description is an *xapi.Operation.
	Description any
	// Err joins the errors of the developer in the route.
	Err error
}

type key struct{}

// Routes returns the routes of an engine whose handlers respond to a probe, in the order
// of engine.Routes.
func Routes(engine *gin.Engine) []*Route {
	var list []*Route
	for _, info := range engine.Routes() {
		if !strings.HasPrefix(info.Handler, handlerPrefix) {
			continue
		}
		r, c := &Route{Method: info.Method, Path: info.Path}, &gin.Context{}
		c.Set(key{}, r)
		info.HandlerFunc(c)
		list = append(list, r)
	}
	return list
}

// Of returns the route that a handler must describe, or nil if c belongs to a request.
func Of(c *gin.Context) *Route {
	if c.Request != nil {
		return nil
	}
	v, _ := c.Get(key{})
	r, _ := v.(*Route)
	return r
}
