package xerror

import "net/http"

// ForStatus returns the general code of an HTTP status, for responses without a code. A
// status without a code gets the general code of its class (RFC 9110, section 15). A
// status that is not an error gets ServerInternalError.
func ForStatus(status int) *ErrorCode {
	switch c := LookupCode(status * detailBase); {
	case status == http.StatusBadRequest:
		return BadRequest // 40000 is NotExist
	case c != nil:
		return c
	case class(status) == class(http.StatusBadRequest):
		return BadRequest
	default:
		return ServerInternalError
	}
}
