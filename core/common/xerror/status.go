package xerror

import "net/http"

// ForStatus returns the general code of an HTTP status, for responses that have nothing
// but a status. A status that has no code takes that of its class, as RFC 9110, section
// 15, has clients read it; one that is no error takes ServerInternalError.
func ForStatus(status int) *ErrorCode {
	switch c := LookupCode(status * detailBase); {
	case status == http.StatusBadRequest:
		return BadRequest // detail 0 of 400 is NotExist
	case c != nil:
		return c
	case class(status) == class(http.StatusBadRequest):
		return BadRequest
	default:
		return ServerInternalError
	}
}
