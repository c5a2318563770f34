// Package xresult writes responses in the standard envelope: success, errors and streams.
//
// If the response has already started, a function does not write to it and logs a
// warning. Call the functions on the goroutine that serves the request.
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

// Success writes a response with message and no data.
func Success(c *gin.Context, message string) { SuccessHasData(c, message, nil) }

// SuccessHasData writes a response with message and data.
//
// The status is 200, or a status from 201 to 299 that the handler set with c.Status,
// except 204 and 205. If data cannot be encoded, the response is SERIALIZE_ERROR.
func SuccessHasData(c *gin.Context, message string, data any) {
	if isWritten(c) {
		return
	}
	req := requestOf(c)
	profile := profileOf(req)
	r := xbase.BaseResponse{
		Context: req.ID(), Output: xbase.OutputSuccess, Code: xbase.CodeSuccess,
		Message: message, Data: data,
	}
	if req.Debug() || profile.IsJava() {
		r.Overhead = max(1, time.Since(req.Start()).Microseconds()) // 0 would be omitted
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

// Error writes the response for a code of the error catalogue. message is an optional
// detail for the client, and data may be nil. Middleware uses AbortError, which also
// stops the handler chain.
func Error(c *gin.Context, code *xerror.ErrorCode, message xerror.ErrMessage, data any) {
	Fail(c, xerror.WrapData(code, message, nil, data))
}

// AbortError is like Error and also prevents later handlers from running.
func AbortError(c *gin.Context, code *xerror.ErrorCode, message xerror.ErrMessage, data any) {
	c.Abort()
	Error(c, code, message, data)
}

// httpOf returns the HTTP request of c. It is empty for a gin.Context without a request.
func httpOf(c *gin.Context) *http.Request {
	if c.Request == nil {
		return &http.Request{}
	}
	return c.Request
}

func contextOf(c *gin.Context) context.Context { return httpOf(c).Context() }

func requestHeader(c *gin.Context, name xhttp.Header) []string {
	return httpOf(c).Header[string(name)]
}

// requestOf returns the request context of c. If no middleware created one, the result
// contains only the client's language.
func requestOf(c *gin.Context) *xctx.Request {
	if req := xctx.RequestFrom(contextOf(c)); req != nil {
		return req
	}
	req := xctx.NewRequest(contextOf(c), nil)
	req.SetAcceptLanguage(strings.Join(requestHeader(c, xhttp.AcceptLanguage), ","))
	return req
}

func profileOf(req *xctx.Request) xbase.Profile { return xbase.Profile(req.Profile()) }

// successStatus returns the status that the handler chose for a success with a body, or
// 200.
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
