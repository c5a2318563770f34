package xerror

import "github.com/plinthgo/plinth/core/common/xbase"

// Status returns the HTTP status of the error in profile p. It is the status of the code,
// but ProfileJavaStrict reports some errors as the Java library does:
//
//   - A missing, unreadable or invalid body, and a parameter that is missing or of the
//     wrong type, become PARAMETER_ERROR (400).
//   - A permission error of the operating system becomes UNAUTHORIZED (401).
//   - An error of a file, the network or the storage becomes OPERATION_FAILED (400).
//   - A timeout becomes TIMEOUT (408).
//
// The last three apply only to errors whose code From chose. If the application chose the
// code, even in a mapper, the code is unchanged.
func (e *Error) Status(p xbase.Profile) int { return e.codeFor(p).Status() }

// codeFor returns the code that clients receive in profile p.
func (e *Error) codeFor(p xbase.Profile) *ErrorCode {
	code := e.GetErrorCode()
	if p != xbase.ProfileJavaStrict || e == nil {
		return code
	}
	switch code {
	case BodyError, BodyEmpty, BodyType, ParameterEmpty, ParameterType:
		return ParameterError
	}
	if !e.mapped {
		return code
	}
	switch code { // the Java library's codes for Java exceptions
	case PermissionDenied:
		return Unauthorized
	case FileError, IoError, NetworkError, RemoteError, StorageError:
		return OperationFailed
	case GatewayTimeout, UpstreamTimeout:
		return Timeout
	}
	return code
}
