// Package result creates the responses of successful calls. Handlers report failures as
// errors; see xerror.
package result

import (
	"context"
	"fmt"
	"reflect"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/grpcx/generate"
	"github.com/plinthgo/plinth/grpcx/internal/envelope"
)

// Success returns the envelope of a successful call: the request ID, "Success", code 200
// and message.
func Success(ctx context.Context, message string) *generate.BaseResponse {
	return &generate.BaseResponse{
		Context: xctxutil.GetRequestKey(ctx),
		Output:  xbase.OutputSuccess,
		Code:    xbase.CodeSuccess,
		Message: message,
	}
}

// SuccessWith returns a new response of type T whose field base_response is the envelope
// of Success. It is safe for concurrent use.
//
// T must be a pointer to a generated message with that field, in the open or the opaque
// API, or to another struct with a field BaseResponse of that type. SuccessWith panics
// for any other T.
func SuccessWith[T any](ctx context.Context, message string) T {
	t := reflect.TypeFor[T]()
	field := envelope.Of(t)
	if field == nil || t == reflect.TypeFor[*generate.BaseResponse]() {
		panic(unsupported(t))
	}
	response, _ := reflect.TypeAssert[T](reflect.New(t.Elem()))
	if !field.Set(response, Success(ctx, message)) {
		panic(unsupported(t))
	}
	return response
}

// unsupported returns the panic message for an unsupported T.
func unsupported(t reflect.Type) string {
	text := fmt.Sprintf("grpcx/result: SuccessWith[%s]: the type must be a pointer to "+
		"a generated message with the field %s of type %s", t, envelope.Name, envelope.TypeName)
	if t == reflect.TypeFor[*generate.BaseResponse]() {
		text += "; use Success for the envelope itself"
	}
	return text
}
