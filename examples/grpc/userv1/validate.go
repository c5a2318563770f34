// Package userv1 is the interface of the sample user service: what protoc-gen-go and
// protoc-gen-go-grpc make of user.proto, and the bounds of its requests. The server asks
// for these by itself: see validation.Methods.
package userv1

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/examples/grpc/internal/rule"
)

// Validate returns what is wrong with the user, in the form in which HTTP's binding does.
func (x *RegisterRequest) Validate() error {
	return xvalid.Validate(context.Background(), x.Registration())
}

// Registration returns the user as the rules name it.
func (x *RegisterRequest) Registration() rule.Registration {
	return rule.Registration{
		Username: x.GetUsername(), Email: x.GetEmail(),
		Password: x.GetPassword(),
	}
}

// Validate returns what is wrong with the id.
func (x *GetRequest) Validate() error {
	return xvalid.Validate(context.Background(), struct {
		ID int64 `binding:"gt=0" json:"id"`
	}{x.GetId()})
}

// Validate returns what is wrong with the user.
func (x *ImportRequest) Validate() error {
	return xvalid.Validate(context.Background(), struct {
		User rule.Registration `json:"user"`
	}{x.GetUser().Registration()})
}
