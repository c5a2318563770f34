package xhelper

import (
	"math"
	"reflect"
	"unsafe"

	"github.com/gin-gonic/gin"
)

// gin has no function that returns the index of the current handler or skips the last
// handler. Both are necessary so that middleware sees the status of a response that is
// written after it returned: see TestServe_MiddlewareStatus. If a release of gin has
// other fields, middleware sees 200 for a missing response, and does not run for a body
// over the limit.
var (
	chainIndex, hasIndex       = fieldOf[int8]("index")
	chainHandlers, hasHandlers = fieldOf[gin.HandlersChain]("handlers")
)

// abortIndex is the index that gin's Abort sets.
const abortIndex = math.MaxInt8 >> 1

// fieldOf returns the offset of a field of gin.Context, and whether a field of type T
// exists.
func fieldOf[T any](name string) (offset uintptr, ok bool) {
	f, ok := reflect.TypeFor[gin.Context]().FieldByName(name)
	return f.Offset, ok && f.Type == reflect.TypeFor[T]()
}

func field[T any](c *gin.Context, offset uintptr) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(c), offset)) //nolint:gosec // fieldOf checks the type
}

// finished reports whether the last handler of c returned. If a handler aborts the chain,
// the index is abortIndex while that handler runs; gin increments it afterwards.
func finished(c *gin.Context) bool {
	if !hasIndex || !hasHandlers {
		return c.IsAborted() || len(c.Errors) > 0
	}
	index := *field[int8](c, chainIndex)
	return index != abortIndex && int(index) >= len(*field[gin.HandlersChain](c, chainHandlers))
}

// dropHandler removes the last handler from the chain of c, but not from the route.
// Earlier handlers of the route still run, because gin does not distinguish them from
// middleware.
func dropHandler(c *gin.Context) {
	if !hasHandlers {
		c.Abort()
		return
	}
	handlers := field[gin.HandlersChain](c, chainHandlers)
	*handlers = (*handlers)[:max(len(*handlers)-1, 0)]
}
