// Package xbind fills a struct from a request, validates it by its binding tags and
// reports errors.
//
//	request := xbind.Bind(c, &RegisterRequest{}).Data()
//	if request == nil {
//		return // the error has been reported
//	}
//
// Every method returns the filled struct. On failure it adds one error to the gin
// context, aborts the request and returns nil; the error middleware writes the response.
// Messages do not contain the client's values.
package xbind

import (
	"reflect"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
)

// Binder binds parts of one request to a value. It is not safe for concurrent use.
type Binder[T any] struct {
	c    *gin.Context
	dst  *T
	opts []Option
}

// Bind returns a Binder that fills dst. dst may contain defaults. If dst is nil, the
// Binder allocates a new T.
//
// The Strictness is that of the innermost Use, or the zero value. opts change it for this
// call.
func Bind[T any](c *gin.Context, dst *T, opts ...Option) *Binder[T] {
	return &Binder[T]{c: c, dst: dst, opts: opts} // inlined, so it does not allocate
}

// Data binds the JSON body. A body can be read once.
func (b *Binder[T]) Data() *T {
	dst := orNew(b.dst)
	p := planOf(reflect.TypeFor[T]())
	if readBody(b.c, strictnessOf(b.c, b.opts), p, dst) && valid(b.c, xvalid.Body, "", dst) {
		return dst
	}
	return nil
}

// Form binds the form in the body by form tags. The content type is
// application/x-www-form-urlencoded, or multipart/form-data with files. A body can be
// read once.
//
// Files fill fields of the types *multipart.FileHeader, multipart.FileHeader and slices
// of either, also in nested structs. Text does not fill these fields. If T contains file
// headers in other types, the error is a DeveloperError. FileName sanitizes the names of
// files.
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

// report adds the error to the gin context and aborts the request. It returns false.
func report(c *gin.Context, err *xerror.Error) bool {
	// c.Error would unwrap err first
	c.Errors = append(c.Errors, &gin.Error{Err: err, Type: gin.ErrorTypeBind})
	c.Abort()
	return false
}

// valid validates dst by its binding tags and reports failures. Errors contain the field
// names of tag; an empty tag means json.
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
