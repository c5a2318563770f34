// Package userv1 contains the code generated from user.proto and the validation of its
// requests. The server calls Validate; see validation.Methods.
package userv1

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/examples/grpc/internal/rule"
)

// Validate returns the errors of the user in the same form as the HTTP binding.
func (x *RegisterRequest) Validate() error {
	return xvalid.Validate(context.Background(), x.Registration())
}

// Registration converts the user to the type with the validation rules.
func (x *RegisterRequest) Registration() *rule.Registration {
	return &rule.Registration{
		Username: x.GetUsername(), Email: x.GetEmail(), Password: x.GetPassword(),
	}
}

// Validate returns an error if the ID is invalid.
func (x *GetRequest) Validate() error {
	return xvalid.Validate(context.Background(), x.UserID())
}

// UserID converts the request to the type with the validation rules.
func (x *GetRequest) UserID() *rule.UserID {
	return &rule.UserID{ID: xsnowflake.SnowflakeID(x.GetId())}
}

// Validate returns the errors of the user.
func (x *ImportRequest) Validate() error {
	return xvalid.Validate(context.Background(), struct {
		User *rule.Registration `json:"user"`
	}{x.GetUser().Registration()})
}
