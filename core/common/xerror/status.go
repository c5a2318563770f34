package xerror

import "net/http"

// ForStatus returns the general code of an HTTP status, for responses that have nothing but a status.
// A status that has no code takes that of its class, as RFC 9110, section 15, has clients read it; one
// that is no error takes ServerInternalError.
func ForStatus(status int) *ErrorCode {
	if status == http.StatusBadRequest {
		return BadRequest // detail 0 of 400 is NotExist
	}
	if !validStatus(status) {
		return ServerInternalError
	}
	if c := LookupCode(status * detailBase); c != nil {
		return c
	}
	if status < http.StatusInternalServerError {
		return BadRequest
	}
	return ServerInternalError
}
