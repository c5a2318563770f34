package xhelper

import (
	"net/http/httptest"
	"reflect"
	"runtime"
	"testing"

	"github.com/gin-gonic/gin"
)

// If the fields of gin.Context change, chain.go uses less precise methods of gin.
func TestFieldOf(t *testing.T) {
	if !hasIndex || !hasHandlers {
		t.Errorf("fields of gin.Context: index %t, handlers %t, want both", hasIndex, hasHandlers)
	}
}

func TestFinished_AbortIndex(t *testing.T) {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Abort()
	if got := *field[int8](c, chainIndex); got != abortIndex {
		t.Errorf("index after Abort = %d, want %d", got, abortIndex)
	}
}

func TestNextFunction(t *testing.T) {
	f := runtime.FuncForPC(reflect.ValueOf((*gin.Context).Next).Pointer())
	if got := f.Name(); got != nextFunction {
		t.Errorf("name of Next = %s, want %s", got, nextFunction)
	}
}
