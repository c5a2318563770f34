// Package rule contains the validation rules of requests, shared by HTTP and gRPC.
package rule

import "github.com/plinthgo/plinth/core/common/xsnowflake"

// Registration is the request to register a user. The maximum lengths fit the columns;
// that of the password limits the time of hashing.
type Registration struct {
	Username string `binding:"required,min=3,max=32"  json:"username"`
	Email    string `binding:"required,email,max=128" json:"email"`
	Password string `binding:"required,min=6,max=256" json:"password"`
}

// UserID is the request for one user.
type UserID struct {
	ID xsnowflake.SnowflakeID `binding:"gt=0" uri:"id"`
}
