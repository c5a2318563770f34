package xerror

import (
	"context"
	"time"

	xBase "github.com/plinthgo/plinth/core/common/xbase"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
)

// Response returns the HTTP status and the envelope of the error: the code's own message in the
// client's language, the developer's message beside it, and the data. The cause is no part of it.
//
// The status is the code's in either profile; in the Java profile number and label are those of
// JavaCode. The handling time is filled in debug mode, and always in the Java profile.
func (e *Error) Response(ctx context.Context, p xBase.Profile) (status int, r xBase.BaseResponse) {
	code := e.GetErrorCode()
	r = xBase.BaseResponse{
		Context:      requestID(ctx),
		Output:       code.GetOutput(),
		Code:         code.GetCode(),
		Message:      code.Message(Language(ctx)),
		ErrorMessage: string(e.GetErrorMessage()),
		Data:         e.GetData(),
	}
	if p == xBase.ProfileJava {
		r.Code, r.Output = JavaCode(code)
	}
	if q := xCtx.RequestFrom(ctx); q != nil && (q.Debug() || p == xBase.ProfileJava) {
		r.Overhead = max(1, time.Since(q.Start()).Microseconds()) // 0 would be none
	}
	return code.Status(), r
}

// requestID returns the id of ctx's request, or "".
func requestID(ctx context.Context) string {
	if q := xCtx.RequestFrom(ctx); q != nil && q.ID() != "" {
		return q.ID()
	}
	if ctx == nil {
		return ""
	}
	id, _ := ctx.Value(xCtx.RequestKey).(string)
	return id
}
