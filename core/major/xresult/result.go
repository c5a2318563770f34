// Package xresult answers requests: success, error and stream, all in the one envelope.
//
// A function answers once: when the response has been started already, nothing is appended to it and
// the second answer is logged instead. The functions belong to the goroutine that serves the request.
package xresult

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xhttp"
)

// Success answers with message and no data.
func Success(c *gin.Context, message string) { SuccessHasData(c, message, nil) }

// SuccessHasData answers with message and data.
//
// The status is 200, or the one below 300 that the handler has set with c.Status. Data that cannot be
// encoded becomes SERIALIZE_ERROR.
func SuccessHasData(c *gin.Context, message string, data any) {
	if refuse(c) {
		return
	}
	r := xbase.BaseResponse{Output: xbase.OutputSuccess, Code: xbase.CodeSuccess, Message: message, Data: data}
	req := request(c)
	complete(&r, req)
	b := getBuffer()
	body, err := r.AppendJSON((*b)[:0], profileOf(req))
	if err == nil {
		write(c, successStatus(c), typeJSON, body)
	}
	putBuffer(b, body)
	if err != nil {
		Fail(c, xerror.Wrap(xerror.SerializeError, "", err))
	}
}

// Error answers with an error of the catalogue: message is what the developer adds for the client and
// may be empty, data may be nil. Middleware uses AbortError, which also stops the chain.
func Error(c *gin.Context, code *xerror.ErrorCode, message xerror.ErrMessage, data any) {
	Fail(c, xerror.WrapData(code, message, nil, data))
}

// AbortError is Error, and no handler after this one runs.
func AbortError(c *gin.Context, code *xerror.ErrorCode, message xerror.ErrMessage, data any) {
	c.Abort()
	Error(c, code, message, data)
}

// contextOf returns the context of the request; a gin.Context that was made by hand has no request.
func contextOf(c *gin.Context) context.Context {
	if c.Request == nil {
		return context.Background()
	}
	return c.Request.Context()
}

// sent returns the values of a header of the request.
func sent(c *gin.Context, name xhttp.Header) []string {
	if c.Request == nil {
		return nil
	}
	return c.Request.Header[string(name)]
}

// request returns the context of the request that c serves, or nil where no middleware has made one.
func request(c *gin.Context) *xctx.Request { return xctx.RequestFrom(contextOf(c)) }

// requestOrNew is request; without one, it returns a request that knows the client's language only.
func requestOrNew(c *gin.Context) *xctx.Request {
	if req := request(c); req != nil {
		return req
	}
	req := xctx.NewRequest(contextOf(c), nil)
	req.SetAcceptLanguage(strings.Join(sent(c, xhttp.AcceptLanguage), ","))
	return req
}

func profileOf(req *xctx.Request) xbase.Profile {
	if req == nil {
		return xbase.ProfilePlinth
	}
	return xbase.Profile(req.Profile())
}

// complete fills in what the envelope says about the request: its id and the time spent on it. The
// time is for debugging, but a field of its own in the Java profile.
func complete(r *xbase.BaseResponse, req *xctx.Request) {
	if req == nil {
		return
	}
	r.Context = req.ID()
	if req.Debug() || profileOf(req).IsJava() {
		r.Overhead = max(1, time.Since(req.Start()).Microseconds())
	}
}

// successStatus returns the status that the handler has chosen for a success with a body, else 200.
func successStatus(c *gin.Context) int {
	var status int
	if w, ok := c.Writer.(engineWriter); ok {
		status = w.ChosenStatus()
	} else {
		status = c.Writer.Status()
	}
	if status < http.StatusOK || status >= http.StatusMultipleChoices ||
		status == http.StatusNoContent || status == http.StatusResetContent {
		return http.StatusOK
	}
	return status
}
