package xapi

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/internal/probe"
	"github.com/plinthgo/plinth/core/major/xbind"
)

// route is a typed handler with its plan.
type route[In, Out any] struct {
	handler   func(context.Context, *In) (Out, error)
	operation *Operation
	bind      []xbind.Option
	output    *output
}

func newRoute[In, Out any](
	h func(context.Context, *In) (Out, error), c config,
) *route[In, Out] {
	op := newOperation[In, Out](h, c)
	return &route[In, Out]{
		handler: h, operation: op, bind: c.bind,
		output: newOutput(op),
	}
}

func (r *route[In, Out]) serve(c *gin.Context) {
	if p := probe.Of(c); p != nil {
		r.operation.describe(p)
		return
	}
	if err := r.operation.err; err != nil { // the start of an application reports it
		_ = c.Error(xerror.Wrap(xerror.DeveloperError, "", err))
		return
	}
	in := xbind.Bind[In](c, nil, r.bind...).Request()
	if in == nil {
		return // the error has been reported
	}
	out, err := r.handler(c.Request.Context(), in)
	if err != nil {
		_ = c.Error(err)
		return
	}
	r.output.write(c, out)
}

// described is a gin handler with a description.
type described struct {
	operation *Operation
	handler   gin.HandlerFunc
}

func (d *described) serve(c *gin.Context) {
	if p := probe.Of(c); p != nil {
		d.operation.describe(p)
		return
	}
	d.handler(c)
}
