// Package rule holds the bounds of what clients send: the same over HTTP and gRPC.
package rule

// Registration is what a new user sends. The upper bounds are those of the columns, and
// of what is worth hashing.
type Registration struct {
	Username string `binding:"required,min=3,max=32"  json:"username"`
	Email    string `binding:"required,email,max=128" json:"email"`
	Password string `binding:"required,min=6,max=256" json:"password"`
}
