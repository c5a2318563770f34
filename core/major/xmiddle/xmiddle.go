// Package xmiddle provides middleware for applications: error responses, CORS, OPTIONS,
// access guards and envelope profiles.
//
// Middleware without parameters is a gin.HandlerFunc:
//
//	engine.Use(xmiddle.ResponseMiddleware, xmiddle.ReleaseAllCors, xmiddle.AllowOption)
//
// All functions are safe for concurrent use.
package xmiddle

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xhttp"
)

var respond = xhelper.Respond(xhelper.Config{})

// ResponseMiddleware writes a response if the handlers have not:
//
//   - the last error in c.Errors, like xresult.Fail;
//   - the envelope for a status of at least 400 that was set without a body;
//   - DEVELOPER_ERROR if neither was set. c.Status(200) has no effect, because 200 is
//     gin's default. For an empty response with status 200, call c.Writer.WriteHeaderNow.
//
// It does not change other statuses without a body (204, 303, 304 …), responses to HEAD,
// or a response that has started. xhelper.Serve includes it; mounting both is harmless.
func ResponseMiddleware(c *gin.Context) { respond(c) }

// Stream declares requests to its routes streams, which have no request timeout. Use it
// for responses without a defined end whose content type does not identify a stream, such
// as long polling. It is not necessary for text/event-stream, multipart/x-mixed-replace
// or hijacked connections such as WebSockets.
//
//	engine.GET("/poll", xmiddle.Stream, poll)
func Stream(c *gin.Context) { xhelper.MarkStream(c) }

// UseProfile returns middleware that sets the profile of the envelopes of its routes. It
// panics if p is not a profile.
func UseProfile(p xbase.Profile) gin.HandlerFunc {
	setContext := xhelper.RequestContext(xhelper.Config{Profile: p})
	return func(c *gin.Context) {
		if req := xctx.RequestFrom(c.Request.Context()); req != nil {
			req.SetProfile(uint8(p))
			return
		}
		setContext(c)
	}
}

// AllowOption responds to an OPTIONS request with 204 and the methods of the path, unless
// the application has a handler for it. It ignores unknown paths.
//
// The engine's HandleMethodNotAllowed must be true, as in Plinth's engine.
func AllowOption(c *gin.Context) {
	if c.Request.Method != http.MethodOptions || c.FullPath() != "" {
		return
	}
	methods := routeMethods(c)
	if len(methods) == 0 {
		return
	}
	if !slices.Contains(methods, http.MethodOptions) {
		methods = append(methods, http.MethodOptions)
	}
	xhttp.Allow.Set(c.Writer.Header(), strings.Join(methods, ", "))
	c.AbortWithStatus(http.StatusNoContent)
}

// AllowOptionRequest is the same as AllowOption.
func AllowOptionRequest(c *gin.Context) { AllowOption(c) }

// routeMethods returns the methods of the path if none of its routes has the method of
// the request. gin determines them before the middleware runs.
func routeMethods(c *gin.Context) []string {
	allow := xhttp.Allow.Get(c.Writer.Header())
	return strings.FieldsFunc(allow, func(r rune) bool { return r == ',' || r == ' ' })
}
