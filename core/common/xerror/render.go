package xerror

import (
	"context"
	"time"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// Response returns the HTTP status and the envelope of the error. The envelope contains
// the code's message in the client's language, the developer's message and the data, but
// not the cause.
//
// The status equals e.Status(p). In the Java profiles, JavaCode determines the number and
// the label. The overhead is set in debug mode and in the Java profiles.
func (e *Error) Response(ctx context.Context, p xbase.Profile) (status int, r xbase.BaseResponse) {
	code := e.codeFor(p)
	r = xbase.BaseResponse{
		Context:      xctx.RequestID(ctx),
		Output:       code.GetOutput(),
		Code:         code.GetCode(),
		Message:      code.Message(Language(ctx)),
		ErrorMessage: string(e.GetErrorMessage()),
		Data:         e.GetData(),
	}
	if p.IsJava() {
		r.Code, r.Output = JavaCode(code)
	}
	if q := xctx.RequestFrom(ctx); q != nil && (q.Debug() || p.IsJava()) {
		r.Overhead = max(1, time.Since(q.Start()).Microseconds()) // 0 means absent
	}
	return code.Status(), r
}
