// Package result makes the responses of successful calls.
//
// A handler that fails returns an error instead; see xerror.
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

// Success returns the envelope of a success: the request id, "Success", 200 and the
// message.
func Success(ctx context.Context, message string) *generate.BaseResponse {
	return &generate.BaseResponse{
		Context: xctxutil.GetRequestKey(ctx),
		Output:  xbase.OutputSuccess,
		Code:    xbase.CodeSuccess,
		Message: message,
	}
}

// SuccessWith returns a new response of the type T with the envelope of Success in its
// field base_response; the handler sets the rest.
//
// T is a pointer to a generated message that has the field, in the open or the opaque
// API, or to another struct with a field BaseResponse of that type. Any other T panics:
// the first call finds the mistake, whatever the request. It is safe for concurrent use.
func SuccessWith[T any](ctx context.Context, message string) T {
	t := reflect.TypeFor[T]()
	field := envelope.Of(t)
	if field == nil || t == reflect.TypeFor[*generate.BaseResponse]() {
		panic(unfit(t))
	}
	response, _ := reflect.TypeAssert[T](reflect.New(t.Elem()))
	if !field.Set(response, Success(ctx, message)) {
		panic(unfit(t))
	}
	return response
}

// unfit says what T must be.
func unfit(t reflect.Type) string {
	text := fmt.Sprintf("grpcx/result: SuccessWith[%s]: the type must be a pointer to a generated message with the field %s of type %s",
		t, envelope.Name, envelope.TypeName)
	if t == reflect.TypeFor[*generate.BaseResponse]() {
		text += "; for the envelope alone use Success"
	}
	return text
}
