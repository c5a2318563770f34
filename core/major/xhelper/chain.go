package xhelper

import (
	"math"
	"reflect"
	"unsafe"

	"github.com/gin-gonic/gin"
)

// gin does not tell how far the chain of a request's handlers is, and cannot skip the
// last one. Both are needed for middleware to see the status of a response that is
// written after it has returned: see TestServe_statusThatMiddlewareSees. With a release
// of gin that has other fields, a missing answer looks like 200 to middleware, and none
// runs for a body over the limit.
var (
	chainIndex, hasIndex       = fieldOf[int8]("index")
	chainHandlers, hasHandlers = fieldOf[gin.HandlersChain]("handlers")
)

// abortIndex is the index that gin's Abort sets.
const abortIndex = math.MaxInt8 >> 1

// fieldOf returns the offset of a field of gin.Context, and whether there is one of type
// T.
func fieldOf[T any](name string) (offset uintptr, ok bool) {
	f, ok := reflect.TypeFor[gin.Context]().FieldByName(name)
	return f.Offset, ok && f.Type == reflect.TypeFor[T]()
}

// field returns a pointer to the field of c at an offset.
func field[T any](c *gin.Context, offset uintptr) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(c), offset)) //nolint:gosec // fieldOf has checked the type
}

// finished reports whether the last handler of c has returned. If a handler aborts the
// chain, the index is abortIndex while that handler runs, and gin increments it
// afterwards.
func finished(c *gin.Context) bool {
	if !hasIndex || !hasHandlers {
		return c.IsAborted() || len(c.Errors) > 0
	}
	index := *field[int8](c, chainIndex)
	return index != abortIndex && int(index) >= len(*field[gin.HandlersChain](c, chainHandlers))
}

// dropHandler removes the last handler from the chain of c. The chain of the route is not
// changed. gin does not tell the handlers before it from the middleware of the route, so
// they run.
func dropHandler(c *gin.Context) {
	if !hasHandlers {
		c.Abort()
		return
	}
	handlers := field[gin.HandlersChain](c, chainHandlers)
	*handlers = (*handlers)[:max(len(*handlers)-1, 0)]
}
