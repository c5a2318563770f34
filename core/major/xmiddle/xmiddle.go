// Package xmiddle is the middleware that an application mounts: the answer to errors,
// CORS, OPTIONS, guards and the envelope's profile.
//
// What takes no parameter is a gin handler itself:
//
//	engine.Use(xmiddle.ResponseMiddleware, xmiddle.ReleaseAllCors, xmiddle.AllowOption)
//
// All of it is safe for concurrent use.
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

// ResponseMiddleware is the one place where an error becomes a response. After the
// handlers it answers, unless they have:
//
//   - with the last error in c.Errors, as xresult.Fail does;
//   - with the envelope of a status from 400 on that was set without a body;
//   - with DEVELOPER_ERROR, where nothing was set at all. c.Status(200) counts as
//     nothing, since it is where gin starts; a handler that means an empty 200 calls
//     c.Writer.WriteHeaderNow.
//
// Any other status without a body (204, 303, 304 …), and the answer to HEAD, stands.
// Nothing is ever appended to a response that has been started. xhelper.Serve does the
// same; mounting both is harmless.
func ResponseMiddleware(c *gin.Context) { respond(c) }

// Stream declares its routes streams, whatever their content type: requests without an
// end of their own, such as long polling. Responses of text/event-stream or
// multipart/x-mixed-replace and hijacked connections, such as WebSockets, are streams
// without it. A stream has no request timeout.
//
//	engine.GET("/poll", xmiddle.Stream, poll)
func Stream(c *gin.Context) { xhelper.MarkStream(c) }

// UseProfile makes the envelopes of its routes those of another profile.
func UseProfile(p xbase.Profile) gin.HandlerFunc {
	begin := xhelper.RequestContext(xhelper.Config{Profile: p})
	return func(c *gin.Context) {
		if req := xctx.RequestFrom(c.Request.Context()); req != nil {
			req.SetProfile(uint8(p))
			return
		}
		begin(c)
	}
}

// AllowOption answers an OPTIONS request with 204 and the methods of its path, where the
// application has no handler for it. An unknown path stays unknown.
//
// It knows the methods where the engine's HandleMethodNotAllowed is on, as it is in
// Plinth's.
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

// AllowOptionRequest is AllowOption.
func AllowOptionRequest(c *gin.Context) { AllowOption(c) }

// routeMethods returns the methods of the path, for a request with one that it has not.
// gin works them out before the middleware runs.
func routeMethods(c *gin.Context) []string {
	allow := xhttp.Allow.Get(c.Writer.Header())
	return strings.FieldsFunc(allow, func(r rune) bool { return r == ',' || r == ' ' })
}
