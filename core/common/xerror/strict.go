package xerror

import "github.com/plinthgo/plinth/core/common/xbase"

// Status returns the HTTP status of the error in a profile: that of its code, except that
// ProfileJavaStrict reports some errors as the Java library does. They are
//   - a body that is missing, unreadable or invalid, and a parameter that is missing or
//     of the wrong type: PARAMETER_ERROR, 400;
//   - a denied permission of the operating system: UNAUTHORIZED, 401;
//   - an error of a file, the network or the storage: OPERATION_FAILED, 400;
//   - a timeout: TIMEOUT, 408.
//
// The last three are the errors that From maps. An error whose code the application has
// chosen, also with a mapper, keeps it.
func (e *Error) Status(p xbase.Profile) int { return e.reported(p).Status() }

// reported returns the code that the client receives in a profile.
func (e *Error) reported(p xbase.Profile) *ErrorCode {
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
	switch code { // the Java library's codes for exceptions of Java itself
	case PermissionDenied:
		return Unauthorized
	case FileError, IoError, NetworkError, RemoteError, StorageError:
		return OperationFailed
	case GatewayTimeout, UpstreamTimeout:
		return Timeout
	}
	return code
}
