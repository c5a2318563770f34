// Package xapi registers typed handlers: functions that receive a validated input and
// return a value or an error.
//
//	func routes(_ context.Context, engine *gin.Engine) {
//		v1 := xapi.Group(engine, "/api/v1", xapi.Tag("users"))
//		xapi.Post(v1, "/users", createUser, xapi.Status(http.StatusCreated))
//		xapi.Get(v1, "/users/:id", getUser, xapi.Errors(xerror.UserNotFound))
//	}
//
//	func createUser(ctx context.Context, in *CreateUser) (*User, error)
//
// The input is a struct that xbind.Binder.Request fills and validates. The result becomes
// the data of the response envelope; an error becomes the response of its code. The
// result struct{} is an envelope without data. Some types of results have another
// response: JSON, Empty, iter.Seq2 and *Download.
//
// Each route has a description, the Operation, from which module openapix generates an
// OpenAPI document. Contradictions between a handler and its route fail the start.
package xapi

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"
)

// Router is a gin router with options for its typed handlers, which Group returns. Get
// and the other functions also accept a *gin.Engine and a *gin.RouterGroup. The method
// Group is that of gin, so the group that it returns has no options.
type Router struct {
	gin.IRouter

	config config
}

// Group returns a router for the paths below path. The options apply to all of its typed
// handlers, in addition to those of r. ID, Summary and Description apply to a route only,
// so Group ignores them.
func Group(r gin.IRouter, path string, opts ...Option) *Router {
	c := configOf(r)
	c.apply(opts)
	g := &Router{IRouter: r.Group(path, c.middleware...)}
	c.middleware = nil                          // the group runs it
	c.id, c.summary, c.description = "", "", "" // of a route
	g.config = c
	return g
}

// Get registers a typed handler for GET requests. The server responds to HEAD requests of
// the path, too.
//
// In is a struct, or struct{} for a handler without input. h can be a method value, so
// that a handler has its dependencies in fields.
func Get[In, Out any](
	r gin.IRouter, path string, h func(context.Context, *In) (Out, error), opts ...Option,
) {
	Handle(r, http.MethodGet, path, h, opts...)
}

// Post registers a typed handler for POST requests.
func Post[In, Out any](
	r gin.IRouter, path string, h func(context.Context, *In) (Out, error), opts ...Option,
) {
	Handle(r, http.MethodPost, path, h, opts...)
}

// Put registers a typed handler for PUT requests.
func Put[In, Out any](
	r gin.IRouter, path string, h func(context.Context, *In) (Out, error), opts ...Option,
) {
	Handle(r, http.MethodPut, path, h, opts...)
}

// Patch registers a typed handler for PATCH requests.
func Patch[In, Out any](
	r gin.IRouter, path string, h func(context.Context, *In) (Out, error), opts ...Option,
) {
	Handle(r, http.MethodPatch, path, h, opts...)
}

// Delete registers a typed handler for DELETE requests.
func Delete[In, Out any](
	r gin.IRouter, path string, h func(context.Context, *In) (Out, error), opts ...Option,
) {
	Handle(r, http.MethodDelete, path, h, opts...)
}

// Handle registers a typed handler for requests with the given method.
func Handle[In, Out any](
	r gin.IRouter, method, path string, h func(context.Context, *In) (Out, error),
	opts ...Option,
) {
	c := configOf(r)
	c.apply(opts)
	handler := newRoute(h, c).serve
	r.Handle(method, path, append(c.middleware, handler)...)
}

// Describe returns h with a description, for a route of a handler that is not typed. In
// and Out describe the request and the data of the response, as for a typed handler.
//
//	engine.POST("/orders", xapi.Describe[CreateOrder, *Order](createOrder))
func Describe[In, Out any](h gin.HandlerFunc, opts ...Option) gin.HandlerFunc {
	var c config
	c.apply(opts)
	op := newOperation[In, Out](h, c)
	if len(c.middleware)+len(c.bind) > 0 {
		op.fail("the options Use and Bind apply to typed handlers only: " +
			"pass middleware to gin, and the strictness to xbind.Bind")
	}
	d := &described{operation: op, handler: h}
	return d.serve
}
