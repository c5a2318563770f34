// Package handler binds requests, calls the logic and writes responses.
package handler

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/examples/usercenter/internal/logic"
)

// RegisterRequest is the registration of a new user. The maximum lengths fit the columns;
// that of the password limits the time of hashing.
type RegisterRequest struct {
	Username string `binding:"required,min=3,max=32"     json:"username"`
	Email    string `binding:"required,email,max=128"    json:"email"`
	Password string `binding:"required,min=6,max=256"    json:"password"`
}

// LoginRequest is the login of a registered user.
type LoginRequest struct {
	Username string `binding:"required" json:"username"`
	Password string `binding:"required" json:"password"`
}

// Register handles POST /api/v1/user/register and returns the new user.
func Register(c *gin.Context) {
	request := xbind.Bind(c, &RegisterRequest{}).Data()
	if request == nil {
		return
	}
	user, err := logic.Register(c.Request.Context(), request.Username, request.Email,
		request.Password)
	if err != nil {
		_ = c.Error(err)
		return
	}
	xresult.SuccessHasData(c, "registered", user)
}

// Login handles POST /api/v1/user/login and returns the user.
func Login(c *gin.Context) {
	request := xbind.Bind(c, &LoginRequest{}).Data()
	if request == nil {
		return
	}
	user, err := logic.Login(c.Request.Context(), request.Username, request.Password)
	if err != nil {
		_ = c.Error(err)
		return
	}
	xresult.SuccessHasData(c, "logged in", user)
}

// Create handles POST /api/v1/user like Register, but returns no data.
func Create(c *gin.Context) {
	request := xbind.Bind(c, &RegisterRequest{}).Data()
	if request == nil {
		return
	}
	if _, err := logic.Register(c.Request.Context(), request.Username, request.Email,
		request.Password); err != nil {
		_ = c.Error(err)
		return
	}
	xresult.Success(c, "created")
}

// Get handles GET /api/v1/user/{id} and returns the user. An invalid ID is a
// PARAMETER_ERROR.
func Get(c *gin.Context) {
	id, err := xsnowflake.ParseSnowflakeID(c.Param("id"))
	if err != nil || id.IsZero() {
		_ = c.Error(xerror.Wrap(xerror.ParameterError, "the ID is invalid", err))
		return
	}
	user, err := logic.Find(c.Request.Context(), id)
	if err != nil {
		_ = c.Error(err)
		return
	}
	xresult.SuccessHasData(c, "found", user)
}

// Ping handles GET /ping.
func Ping(c *gin.Context) {
	c.JSON(http.StatusOK, gin.H{"message": "pong"})
}

// APIPing handles GET /api/ping.
func APIPing(c *gin.Context) { xresult.SuccessHasData(c, "SUCCESS", "pong") }
