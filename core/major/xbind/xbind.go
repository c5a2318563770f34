// Package xbind fills a struct from a request, checks it against its binding tags, and
// reports what is wrong.
//
//	request := xbind.Bind(c, &RegisterRequest{}).Data()
//	if request == nil {
//		return // the error has been reported
//	}
//
// Every method returns the filled struct, or nil after it has handed one error to the gin
// context and ended the request; the error middleware renders it. No message repeats what
// the client sent.
package xbind

import (
	"reflect"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
)

// Binder binds the parts of one request to one value. It belongs to the goroutine that
// serves the request.
type Binder[T any] struct {
	c    *gin.Context
	dst  *T
	opts []Option
}

// Bind prepares to fill dst, which may hold defaults and may be nil for a new T.
//
// The strictness is that of Use where it is mounted, else the zero Strictness; options
// change it for this call.
func Bind[T any](c *gin.Context, dst *T, opts ...Option) *Binder[T] {
	return &Binder[T]{c: c, dst: dst, opts: opts} // small enough to be inlined: no allocation
}

// Data binds the JSON body. A body can be read once.
func (b *Binder[T]) Data() *T {
	dst := orNew(b.dst)
	if readBody(b.c, strictnessOf(b.c, b.opts), dst) && valid(b.c, xvalid.Body, "", dst) {
		return dst
	}
	return nil
}

// Form binds the form in the body by form tags: application/x-www-form-urlencoded, or
// multipart/form-data with files, which fill fields of the types *multipart.FileHeader,
// multipart.FileHeader and slices of either, also in nested structs. Text fills none of
// them; a T with files in other types is a DeveloperError. The names of the files are
// those of FileName. A body can be read once.
func (b *Binder[T]) Form() *T { return b.bind(xvalid.Body, formValues) }

// Query binds the query parameters by form tags.
func (b *Binder[T]) Query() *T { return b.bind(xvalid.Query, queryValues) }

// URI binds the path parameters by uri tags.
func (b *Binder[T]) URI() *T { return b.bind(xvalid.Path, pathValues) }

// Header binds the request headers by header tags.
func (b *Binder[T]) Header() *T { return b.bind(xvalid.Header, headerValues) }

func orNew[T any](dst *T) *T {
	if dst == nil {
		return new(T)
	}
	return dst
}

// report hands the error to the error middleware and ends the request.
func report(c *gin.Context, err *xerror.Error) bool {
	// as c.Error does, which looks into err first
	c.Errors = append(c.Errors, &gin.Error{Err: err, Type: gin.ErrorTypeBind})
	c.Abort()
	return false
}

// valid checks dst against its binding tags and reports what failed, with the names of a
// tag; "" is json.
func valid[T any](c *gin.Context, from xvalid.Source, tag string, dst *T) bool {
	err := xvalid.Validate(c, dst)
	switch {
	case err == nil:
		return true
	case tag == "":
		return report(c, xvalid.Error(c.Request.Context(), from.Code(), err))
	default:
		return report(c, xvalid.ErrorNamed(c.Request.Context(), from.Code(), err,
			reflect.TypeFor[T](), tag))
	}
}
