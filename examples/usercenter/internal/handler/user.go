// Package handler contains the typed handlers, which translate between requests and the
// logic.
package handler

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/examples/usercenter/internal/entity"
	"github.com/plinthgo/plinth/examples/usercenter/internal/logic"
)

// RegisterRequest is the registration of a new user.
type RegisterRequest struct {
	// Username is unique and case-sensitive.
	Username string `binding:"required,min=3,max=32"  example:"ada"             json:"username"`
	// Email is unique. Upper and lower case are equal.
	Email string `binding:"required,email,max=128" example:"ada@example.com" json:"email"`
	// Password has a maximum length, which limits the time of hashing.
	Password string `binding:"required,min=6,max=256" example:"correct horse"   json:"password"`
}

// LoginRequest is the login of a registered user.
type LoginRequest struct {
	Username string `binding:"required" example:"ada"           json:"username"`
	Password string `binding:"required" example:"correct horse" json:"password"`
}

// GetRequest names a user.
type GetRequest struct {
	// ID is assigned at the registration.
	ID xsnowflake.SnowflakeID `binding:"required" uri:"id"`
}

// Pong is the response to a ping.
type Pong struct {
	Message string `example:"pong" json:"message"`
}

// RegisterUser registers a user.
func RegisterUser(ctx context.Context, in *RegisterRequest) (*entity.User, error) {
	return logic.Register(ctx, in.Username, in.Email, in.Password)
}

// LogIn checks the password of a user.
func LogIn(ctx context.Context, in *LoginRequest) (*entity.User, error) {
	return logic.Login(ctx, in.Username, in.Password)
}

// CreateUser registers a user, but does not return it.
func CreateUser(ctx context.Context, in *RegisterRequest) (struct{}, error) {
	_, err := RegisterUser(ctx, in)
	return struct{}{}, err
}

// GetUser returns a user.
func GetUser(ctx context.Context, in *GetRequest) (*entity.User, error) {
	return logic.Find(ctx, in.ID)
}

// Ping reports that the service runs. The response has no envelope.
func Ping(context.Context, *struct{}) (xapi.JSON[Pong], error) {
	return xapi.JSON[Pong]{Value: Pong{Message: "pong"}}, nil
}

// APIPing reports that the service runs. The response has an envelope.
func APIPing(context.Context, *struct{}) (string, error) { return "pong", nil }
