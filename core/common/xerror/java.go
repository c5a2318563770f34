package xerror

import (
	"strings"
	"sync"
)

// javaCode is a code of the Java library: its number, its label, and the names of the
// codes that map to it. Its own name is first.
type javaCode struct {
	number       int
	label, names string
}

// javaCodes are the codes of the Java library. A code whose name is missing maps like the
// general code of its status.
var javaCodes = [...]javaCode{
	{40000, "NotExist", "NOT_EXIST FILE_NOT_FOUND"},
	{40001, "Existed", "EXISTED DATA_DUPLICATE DUPLICATE_ENTRY UNIQUE_CONSTRAINT"},
	{
		40002, "ParameterError",
		"PARAMETER_ERROR VALIDATION_ERROR FORMAT_ERROR LENGTH_ERROR RANGE_ERROR PATTERN_ERROR " +
			"DATA_ERROR DATA_OUT_OF_RANGE DATA_TOO_LARGE DATA_TOO_SMALL FILE_SIZE_EXCEEDED",
	},
	{40003, "ParameterMissing", "PARAMETER_MISSING PARAMETER_EMPTY DATA_INCOMPLETE FILE_EMPTY"},
	{
		40004, "ParameterInvalid",
		"PARAMETER_INVALID INVALID_VALUE INVALID_FORMAT INVALID_INPUT DATA_INVALID " +
			"DATA_NOT_MATCH FILE_FORMAT_ERROR UNPROCESSABLE_ENTITY",
	},
	{40005, "ParameterIllegal", "PARAMETER_ILLEGAL FILE_TYPE_NOT_ALLOWED"},
	{40006, "ParameterTypeError", "PARAMETER_TYPE_ERROR PARAMETER_TYPE TYPE_MISMATCH"},
	{40007, "BodyError", "BODY_ERROR"},
	{40008, "BodyMissing", "BODY_MISSING BODY_EMPTY"},
	{40009, "BodyInvalid", "BODY_INVALID"},
	{40010, "BodyIllegal", "BODY_ILLEGAL PAYLOAD_TOO_LARGE"},
	{40011, "BodyTypeError", "BODY_TYPE_ERROR BODY_TYPE UNSUPPORTED_MEDIA UNSUPPORTED_TYPE"},
	{40012, "HeaderError", "HEADER_ERROR"},
	{40013, "HeaderMissing", "HEADER_MISSING HEADER_EMPTY"},
	{40014, "HeaderInvalid", "HEADER_INVALID"},
	{40015, "HeaderIllegal", "HEADER_ILLEGAL"},
	{40016, "HeaderTypeError", "HEADER_TYPE_ERROR HEADER_TYPE"},
	{40017, "OperationError", "OPERATION_ERROR BUSINESS_ERROR"},
	{
		40018, "OperationFailed",
		"OPERATION_FAILED CANCELED DATA_CONFLICT FILE_UPLOAD_ERROR FILE_DOWNLOAD_ERROR " +
			"FILE_READ_ERROR FILE_WRITE_ERROR FILE_DELETE_ERROR TRANSACTION_FAILED " +
			"BALANCE_INSUFFICIENT STOCK_INSUFFICIENT CONFLICT",
	},
	{40019, "OperationInvalid", "OPERATION_INVALID INVALID_STATE STATE_ERROR FLOW_ERROR"},
	{40020, "OperationIllegal", "OPERATION_ILLEGAL"},
	{40021, "OperationDenied", "OPERATION_DENIED REJECTED QUOTA_EXCEEDED LIMIT_EXCEEDED"},
	{
		40022, "OperationNotAllowed",
		"OPERATION_NOT_ALLOWED DISABLED LOCKED PENDING REPEAT_OPERATION " +
			"RULE_VIOLATION CONDITION_NOT_MET",
	},
	{40023, "OperationNotSupported", "OPERATION_NOT_SUPPORTED UNSUPPORTED_OPERATION"},
	{40024, "BadRequest", "BAD_REQUEST"},
	{40025, "OperationTypeError", "OPERATION_TYPE_ERROR"},
	{40026, "Expired", "EXPIRED VERSION_EXPIRED"},
	{40027, "RequestError", "REQUEST_ERROR"},

	{40101, "Unauthorized", "UNAUTHORIZED"},
	{
		40102, "LoginFailed",
		"LOGIN_FAILED CREDENTIAL_ERROR USER_NOT_FOUND PASSWORD_ERROR ACCOUNT_NOT_EXIST",
	},

	{40301, "Forbidden", "FORBIDDEN"},
	{40302, "PermissionDenied", "PERMISSION_DENIED ROLE_DENIED RESOURCE_DENIED"},
	{40303, "AccessLimited", "ACCESS_LIMITED IP_BLOCKED REGION_BLOCKED DEVICE_BLOCKED"},

	{40401, "PageNotFound", "PAGE_NOT_FOUND API_NOT_FOUND ROUTE_NOT_FOUND"},
	{40402, "NotFound", "NOT_FOUND GONE"},
	{40403, "ResourceNotFound", "RESOURCE_NOT_FOUND SERVICE_NOT_FOUND RECORD_NOT_FOUND"},

	{40501, "MethodNotAllowed", "METHOD_NOT_ALLOWED"},

	{40601, "NotAcceptable", "NOT_ACCEPTABLE"},

	{40801, "Timeout", "TIMEOUT"},
	{40802, "ConnectionTimeout", "CONNECTION_TIMEOUT CONNECT_TIMEOUT"},
	{40803, "ReadTimeout", "READ_TIMEOUT"},
	{40804, "WriteTimeout", "WRITE_TIMEOUT"},

	{42901, "TooManyRequests", "TOO_MANY_REQUESTS"},
	{42902, "RequestRateTooHigh", "REQUEST_RATE_TOO_HIGH RATE_LIMITED THROTTLE_EXCEEDED"},

	{50001, "ServerInternalError", "SERVER_INTERNAL_ERROR"},
	{50002, "DatabaseError", "DATABASE_ERROR"},
	{50003, "CacheError", "CACHE_ERROR"},
	{50004, "FileError", "FILE_ERROR"},
	{50005, "StorageError", "STORAGE_ERROR OSS_ERROR"},
	{
		50006, "RemoteCallError",
		"REMOTE_CALL_ERROR REMOTE_ERROR THIRD_PARTY_ERROR API_CALL_FAILED CALLBACK_ERROR " +
			"WEBHOOK_ERROR SMS_ERROR EMAIL_ERROR PAYMENT_ERROR CDN_ERROR PUSH_ERROR",
	},
	{50007, "ConfigurationError", "CONFIGURATION_ERROR CONFIG_ERROR"},
	{50008, "ResourceExhausted", "RESOURCE_EXHAUSTED POOL_EXHAUSTED QUEUE_FULL MEMORY_ERROR"},
	{50009, "NetworkError", "NETWORK_ERROR"},
	{50010, "NetworkNotSuccess", "NETWORK_NOT_SUCCESS"},

	{50201, "GatewayError", "GATEWAY_ERROR GATEWAY_TIMEOUT"},

	{50301, "ServiceUnavailable", "SERVICE_UNAVAILABLE"},
	{50302, "SystemMaintenance", "SYSTEM_MAINTENANCE"},

	{50999, "UnknownError", "UNKNOWN_ERROR"},
}

// javaUnknown is the status of unknown errors in the Java library.
const javaUnknown = 509

// javaIndex returns the Java codes by name. The index is built at the first call, because
// most services do not need it.
var javaIndex = sync.OnceValue(func() map[string]javaCode {
	index := map[string]javaCode{}
	for _, c := range javaCodes {
		for name := range strings.FieldsSeq(c.names) {
			index[name] = c
		}
	}
	return index
})

// JavaCode returns the number and label of the Java library for a code. It selects the
// Java code with the same name, or else the one with the same meaning, or else the
// general code of the status. JavaCode compares names only, because equal numbers have
// different meanings in the two libraries.
func JavaCode(c *ErrorCode) (number int, label string) {
	java, ok := javaIndex()[c.GetOutput()]
	if !ok || class(java.number/detailBase) != class(c.Status()) {
		general := ForStatus(c.Status())
		if c.Status() == javaUnknown {
			general = UnknownError
		}
		java = javaIndex()[general.GetOutput()]
	}
	return java.number, java.label
}

// class returns the first digit of a status. A client error of the application never maps
// to a server error of the Java library with the same name, and vice versa.
func class(status int) int { return status / 100 }
