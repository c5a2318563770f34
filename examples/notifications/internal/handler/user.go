// Package handler binds requests, calls the logic and sends responses.
package handler

import (
	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/examples/notifications/internal/logic"
)

// SignUpRequest is the body of a sign-up. The maximum lengths fit the columns.
type SignUpRequest struct {
	Username string `binding:"required,min=3,max=32,alphanum" json:"username"`
	Email    string `binding:"required,email,max=128"         json:"email"`
}

// SignUp handles POST /api/v1/signup and returns the new user.
func SignUp(c *gin.Context) {
	request := xbind.Bind(c, &SignUpRequest{}).Data()
	if request == nil {
		return
	}
	user, err := logic.SignUp(c.Request.Context(), request.Username, request.Email)
	if err != nil {
		_ = c.Error(err)
		return
	}
	xresult.SuccessHasData(c, "signed up", user)
}
