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

// RegisterRequest is the registration of a new user. The maximum lengths fit the columns;
// that of the password limits the time of hashing.
type RegisterRequest struct {
	Username string `binding:"required,min=3,max=32"  example:"ada"              json:"username"`
	Email    string `binding:"required,email,max=128" example:"ada@example.com"  json:"email"`
	Password string `binding:"required,min=6,max=256" example:"correct horse"    json:"password"`
}

// LoginRequest is the login of a registered user.
type LoginRequest struct {
	Username string `binding:"required" example:"ada"           json:"username"`
	Password string `binding:"required" example:"correct horse" json:"password"`
}

// GetRequest names a user.
type GetRequest struct {
	ID xsnowflake.SnowflakeID `binding:"required" uri:"id"`
}

// Pong is the response to a ping.
type Pong struct {
	Message string `json:"message"`
}

// Register creates a user and returns it.
func Register(ctx context.Context, in *RegisterRequest) (*entity.User, error) {
	return logic.Register(ctx, in.Username, in.Email, in.Password)
}

// Login checks a password and returns its user.
func Login(ctx context.Context, in *LoginRequest) (*entity.User, error) {
	return logic.Login(ctx, in.Username, in.Password)
}

// Create creates a user like Register, but returns no data.
func Create(ctx context.Context, in *RegisterRequest) (struct{}, error) {
	_, err := Register(ctx, in)
	return struct{}{}, err
}

// Get returns a user.
func Get(ctx context.Context, in *GetRequest) (*entity.User, error) {
	return logic.Find(ctx, in.ID)
}

// Ping responds without an envelope.
func Ping(context.Context, *struct{}) (xapi.JSON[Pong], error) {
	return xapi.JSON[Pong]{Value: Pong{Message: "pong"}}, nil
}

// APIPing responds with an envelope.
func APIPing(context.Context, *struct{}) (string, error) { return "pong", nil }
