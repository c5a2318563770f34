package xreg

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xhttp"
)

// headKey marks the context of a HEAD request that is routed as GET.
type headKey struct{}

// routeHeadAsGet makes GET routes respond to HEAD, like http.ServeMux: the handler runs
// with the method HEAD and the server discards the body. It must be the first middleware,
// because it routes the request a second time.
func routeHeadAsGet(e *gin.Engine) gin.HandlerFunc {
	return func(c *gin.Context) {
		r := c.Request
		switch {
		case c.FullPath() != "":
			if r.Method == http.MethodGet && r.Context().Value(headKey{}) != nil {
				r.Method = http.MethodHead
			}
		case c.Writer.Status() == http.StatusMethodNotAllowed && allowHead(c.Writer.Header()) &&
			r.Method == http.MethodHead:
			c.Request = r.WithContext(context.WithValue(r.Context(), headKey{}, true))
			c.Request.Method = http.MethodGet
			delete(c.Writer.Header(), string(xhttp.Allow))
			c.Status(http.StatusOK)
			e.HandleContext(c)
			c.Abort()
		}
	}
}

// allowHead adds HEAD to an Allow header that contains GET. It reports whether a HEAD
// request can be routed as GET.
func allowHead(h http.Header) bool {
	methods := strings.Split(xhttp.Allow.Get(h), ", ")
	if !slices.Contains(methods, http.MethodGet) || slices.Contains(methods, http.MethodHead) {
		return false
	}
	xhttp.Allow.Set(h, strings.Join(append(methods, http.MethodHead), ", "))
	return true
}
