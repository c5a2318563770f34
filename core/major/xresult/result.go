// Package xresult answers requests: success, error and stream, all in the one envelope.
//
// A function answers once: when the response has been started already, nothing is
// appended to it and the second answer is logged instead. The functions belong to the
// goroutine that serves the request.
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
// The status is 200, or the one below 300 that the handler has set with c.Status. Data
// that cannot be encoded becomes SERIALIZE_ERROR.
func SuccessHasData(c *gin.Context, message string, data any) {
	if refuse(c) {
		return
	}
	req := requestOf(c)
	profile := profileOf(req)
	r := xbase.BaseResponse{
		Context: req.ID(), Output: xbase.OutputSuccess, Code: xbase.CodeSuccess,
		Message: message, Data: data,
	}
	if req.Debug() || profile.IsJava() {
		r.Overhead = max(1, time.Since(req.Start()).Microseconds()) // 0 would be none
	}
	b := buffers.Get().(*[]byte)
	body, err := r.AppendJSON((*b)[:0], profile)
	if err == nil {
		write(c, successStatus(c), typeJSON, body)
	}
	putBuffer(b, body)
	if err != nil {
		Fail(c, xerror.Wrap(xerror.SerializeError, "", err))
	}
}

// Error answers with an error of the catalogue: message is what the developer adds for
// the client and may be empty, data may be nil. Middleware uses AbortError, which also
// stops the chain.
func Error(c *gin.Context, code *xerror.ErrorCode, message xerror.ErrMessage, data any) {
	Fail(c, xerror.WrapData(code, message, nil, data))
}

// AbortError is Error, and no handler after this one runs.
func AbortError(c *gin.Context, code *xerror.ErrorCode, message xerror.ErrMessage, data any) {
	c.Abort()
	Error(c, code, message, data)
}

// httpOf returns the request that c serves. A gin.Context that was made by hand has an
// empty one.
func httpOf(c *gin.Context) *http.Request {
	if c.Request == nil {
		return &http.Request{}
	}
	return c.Request
}

func contextOf(c *gin.Context) context.Context { return httpOf(c).Context() }

// sent returns the values of a header of the request.
func sent(c *gin.Context, name xhttp.Header) []string { return httpOf(c).Header[string(name)] }

// requestOf returns the context of the request that c serves. If no middleware has made
// one, it has the client's language only.
func requestOf(c *gin.Context) *xctx.Request {
	if req := xctx.RequestFrom(contextOf(c)); req != nil {
		return req
	}
	req := xctx.NewRequest(contextOf(c), nil)
	req.SetAcceptLanguage(strings.Join(sent(c, xhttp.AcceptLanguage), ","))
	return req
}

func profileOf(req *xctx.Request) xbase.Profile { return xbase.Profile(req.Profile()) }

// successStatus returns the status that the handler has chosen for a success with a body,
// else 200.
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
