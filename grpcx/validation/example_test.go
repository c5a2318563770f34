package validation_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// BookingRequest represents a generated message.
type BookingRequest struct{ Room, From, Until int }

// Validate is written by hand in the package of the generated code.
func (r *BookingRequest) Validate() error {
	if r.Until <= r.From {
		return errors.New("the end is not after the start")
	}
	return nil
}

func ExampleMethods() {
	err := validation.Methods(context.Background(), &BookingRequest{Room: 1, From: 9, Until: 8})
	fmt.Println(err)
	var e *xerror.Error
	if errors.As(err, &e) {
		fmt.Println(e.GetData()) // sent to the client, not logged
	}
	// Output:
	// PARAMETER_ERROR: the request is not valid: grpcx/validation: invalid request: whole request (invalid)
	// [{ invalid the end is not after the start}]
}

func ExampleReject() {
	openRooms := func(ctx context.Context, request any) error {
		if r, ok := request.(*BookingRequest); ok && r.Room > 12 {
			return validation.Reject(ctx, []xvalid.FieldError{{
				Field: "room", Tag: "open", Message: "room must be at most 12",
			}}, nil)
		}
		return nil
	}
	check := validation.Join(validation.Methods, openRooms)
	err := check(context.Background(), &BookingRequest{Room: 13, From: 8, Until: 9})
	fmt.Println(err)
	// Output: PARAMETER_ERROR: room must be at most 12: grpcx/validation: invalid request: room (open)
}
