package xerror

import (
	"net/http"
	"strings"
	"sync"
)

// javaCode is a code of the Java library. Its label on the wire is the UpperCamel form of its name.
type javaCode struct {
	number int
	name   string
}

// javaCodes are the known codes of the Java library, by status.
var javaCodes = [...]javaCode{
	{40000, "NOT_EXIST"},
	{40001, "EXISTED"},
	{40002, "PARAMETER_ERROR"},
	{40003, "PARAMETER_MISSING"},
	{40004, "PARAMETER_INVALID"},
	{40005, "PARAMETER_ILLEGAL"},
	{40006, "PARAMETER_TYPE_ERROR"},
	{40007, "BODY_ERROR"},
	{40008, "BODY_MISSING"},
	{40009, "BODY_INVALID"},
	{40010, "BODY_ILLEGAL"},
	{40011, "BODY_TYPE_ERROR"},
	{40012, "HEADER_ERROR"},
	{40013, "HEADER_MISSING"},
	{40014, "HEADER_INVALID"},
	{40015, "HEADER_ILLEGAL"},
	{40016, "HEADER_TYPE_ERROR"},
	{40017, "OPERATION_ERROR"},
	{40018, "OPERATION_FAILED"},
	{40019, "OPERATION_INVALID"},
	{40020, "OPERATION_ILLEGAL"},
	{40021, "OPERATION_DENIED"},
	{40022, "OPERATION_NOT_ALLOWED"},
	{40023, "OPERATION_NOT_SUPPORTED"},
	{40024, "BAD_REQUEST"},
	{40025, "OPERATION_TYPE_ERROR"},
	{40026, "EXPIRED"},
	{40027, "REQUEST_ERROR"},

	{40101, "UNAUTHORIZED"},
	{40102, "LOGIN_FAILED"},

	{40301, "FORBIDDEN"},
	{40302, "PERMISSION_DENIED"},
	{40303, "ACCESS_LIMITED"},

	{40401, "PAGE_NOT_FOUND"},
	{40402, "NOT_FOUND"},
	{40403, "RESOURCE_NOT_FOUND"},

	{40501, "METHOD_NOT_ALLOWED"},

	{40601, "NOT_ACCEPTABLE"},

	{40801, "TIMEOUT"},
	{40802, "CONNECTION_TIMEOUT"},
	{40803, "READ_TIMEOUT"},
	{40804, "WRITE_TIMEOUT"},

	{42901, "TOO_MANY_REQUESTS"},
	{42902, "REQUEST_RATE_TOO_HIGH"},

	{50001, "SERVER_INTERNAL_ERROR"},
	{50002, "DATABASE_ERROR"},
	{50003, "CACHE_ERROR"},
	{50004, "FILE_ERROR"},
	{50005, "STORAGE_ERROR"},
	{50006, "REMOTE_CALL_ERROR"},
	{50007, "CONFIGURATION_ERROR"},
	{50008, "RESOURCE_EXHAUSTED"},
	{50009, "NETWORK_ERROR"},
	{50010, "NETWORK_NOT_SUCCESS"},

	{50201, "GATEWAY_ERROR"},

	{50301, "SERVICE_UNAVAILABLE"},
	{50302, "SYSTEM_MAINTENANCE"},

	{50999, "UNKNOWN_ERROR"},
}

// javaSynonyms are the codes of the catalogue that the Java library has under another name. A code
// that is neither here nor there under its own name takes the general code of its status.
var javaSynonyms = map[string]string{
	"DISABLED": "OPERATION_NOT_ALLOWED",
	"LOCKED":   "OPERATION_NOT_ALLOWED",
	"PENDING":  "OPERATION_NOT_ALLOWED",
	"REJECTED": "OPERATION_DENIED",
	"CANCELED": "OPERATION_FAILED",

	"PARAMETER_EMPTY": "PARAMETER_MISSING",
	"PARAMETER_TYPE":  "PARAMETER_TYPE_ERROR",
	"BODY_EMPTY":      "BODY_MISSING",
	"BODY_TYPE":       "BODY_TYPE_ERROR",
	"HEADER_EMPTY":    "HEADER_MISSING",
	"HEADER_TYPE":     "HEADER_TYPE_ERROR",

	"REPEAT_OPERATION":      "OPERATION_NOT_ALLOWED",
	"UNSUPPORTED_OPERATION": "OPERATION_NOT_SUPPORTED",

	"VALIDATION_ERROR": "PARAMETER_ERROR",
	"FORMAT_ERROR":     "PARAMETER_ERROR",
	"LENGTH_ERROR":     "PARAMETER_ERROR",
	"RANGE_ERROR":      "PARAMETER_ERROR",
	"PATTERN_ERROR":    "PARAMETER_ERROR",
	"TYPE_MISMATCH":    "PARAMETER_TYPE_ERROR",
	"INVALID_VALUE":    "PARAMETER_INVALID",
	"INVALID_FORMAT":   "PARAMETER_INVALID",
	"INVALID_STATE":    "OPERATION_INVALID",
	"INVALID_INPUT":    "PARAMETER_INVALID",

	"DATA_ERROR":        "PARAMETER_ERROR",
	"DATA_INVALID":      "PARAMETER_INVALID",
	"DATA_CONFLICT":     "OPERATION_FAILED",
	"DATA_DUPLICATE":    "EXISTED",
	"DATA_NOT_MATCH":    "PARAMETER_INVALID",
	"DATA_INCOMPLETE":   "PARAMETER_MISSING",
	"DATA_OUT_OF_RANGE": "PARAMETER_ERROR",
	"DATA_TOO_LARGE":    "PARAMETER_ERROR",
	"DATA_TOO_SMALL":    "PARAMETER_ERROR",

	"FILE_UPLOAD_ERROR":     "OPERATION_FAILED",
	"FILE_DOWNLOAD_ERROR":   "OPERATION_FAILED",
	"FILE_SIZE_EXCEEDED":    "PARAMETER_ERROR",
	"FILE_TYPE_NOT_ALLOWED": "PARAMETER_ILLEGAL",
	"FILE_NOT_FOUND":        "NOT_EXIST",
	"FILE_READ_ERROR":       "OPERATION_FAILED",
	"FILE_WRITE_ERROR":      "OPERATION_FAILED",
	"FILE_DELETE_ERROR":     "OPERATION_FAILED",
	"FILE_FORMAT_ERROR":     "PARAMETER_INVALID",
	"FILE_EMPTY":            "PARAMETER_MISSING",

	"BUSINESS_ERROR":       "OPERATION_ERROR",
	"TRANSACTION_FAILED":   "OPERATION_FAILED",
	"STATE_ERROR":          "OPERATION_INVALID",
	"FLOW_ERROR":           "OPERATION_INVALID",
	"RULE_VIOLATION":       "OPERATION_NOT_ALLOWED",
	"QUOTA_EXCEEDED":       "OPERATION_DENIED",
	"LIMIT_EXCEEDED":       "OPERATION_DENIED",
	"BALANCE_INSUFFICIENT": "OPERATION_FAILED",
	"STOCK_INSUFFICIENT":   "OPERATION_FAILED",
	"CONDITION_NOT_MET":    "OPERATION_NOT_ALLOWED",

	"CREDENTIAL_ERROR":  "LOGIN_FAILED",
	"USER_NOT_FOUND":    "LOGIN_FAILED",
	"PASSWORD_ERROR":    "LOGIN_FAILED",
	"ACCOUNT_NOT_EXIST": "LOGIN_FAILED",

	"ROLE_DENIED":     "PERMISSION_DENIED",
	"RESOURCE_DENIED": "PERMISSION_DENIED",
	"IP_BLOCKED":      "ACCESS_LIMITED",
	"REGION_BLOCKED":  "ACCESS_LIMITED",
	"DEVICE_BLOCKED":  "ACCESS_LIMITED",

	"API_NOT_FOUND":     "PAGE_NOT_FOUND",
	"ROUTE_NOT_FOUND":   "PAGE_NOT_FOUND",
	"SERVICE_NOT_FOUND": "RESOURCE_NOT_FOUND",
	"RECORD_NOT_FOUND":  "RESOURCE_NOT_FOUND",

	"CONNECT_TIMEOUT": "CONNECTION_TIMEOUT",

	"DUPLICATE_ENTRY":   "EXISTED",
	"UNIQUE_CONSTRAINT": "EXISTED",
	"VERSION_EXPIRED":   "EXPIRED",

	"UNSUPPORTED_MEDIA": "BODY_TYPE_ERROR",
	"UNSUPPORTED_TYPE":  "BODY_TYPE_ERROR",

	"RATE_LIMITED":      "REQUEST_RATE_TOO_HIGH",
	"THROTTLE_EXCEEDED": "REQUEST_RATE_TOO_HIGH",

	"REMOTE_ERROR":      "REMOTE_CALL_ERROR",
	"CONFIG_ERROR":      "CONFIGURATION_ERROR",
	"POOL_EXHAUSTED":    "RESOURCE_EXHAUSTED",
	"QUEUE_FULL":        "RESOURCE_EXHAUSTED",
	"MEMORY_ERROR":      "RESOURCE_EXHAUSTED",
	"THIRD_PARTY_ERROR": "REMOTE_CALL_ERROR",
	"API_CALL_FAILED":   "REMOTE_CALL_ERROR",
	"CALLBACK_ERROR":    "REMOTE_CALL_ERROR",
	"WEBHOOK_ERROR":     "REMOTE_CALL_ERROR",
	"SMS_ERROR":         "REMOTE_CALL_ERROR",
	"EMAIL_ERROR":       "REMOTE_CALL_ERROR",
	"PAYMENT_ERROR":     "REMOTE_CALL_ERROR",
	"OSS_ERROR":         "STORAGE_ERROR",
	"CDN_ERROR":         "REMOTE_CALL_ERROR",
	"PUSH_ERROR":        "REMOTE_CALL_ERROR",
}

// javaGeneral are the general codes by status. 409, 410, 413, 415, 422 and 504 have no code of their
// own in the Java library and take the nearest one of the same class.
var javaGeneral = map[int]string{
	http.StatusBadRequest:            "BAD_REQUEST",
	http.StatusUnauthorized:          "UNAUTHORIZED",
	http.StatusForbidden:             "FORBIDDEN",
	http.StatusNotFound:              "NOT_FOUND",
	http.StatusMethodNotAllowed:      "METHOD_NOT_ALLOWED",
	http.StatusNotAcceptable:         "NOT_ACCEPTABLE",
	http.StatusRequestTimeout:        "TIMEOUT",
	http.StatusTooManyRequests:       "TOO_MANY_REQUESTS",
	http.StatusInternalServerError:   "SERVER_INTERNAL_ERROR",
	http.StatusBadGateway:            "GATEWAY_ERROR",
	http.StatusServiceUnavailable:    "SERVICE_UNAVAILABLE",
	509:                              "UNKNOWN_ERROR", // no registered status; the Java library's own
	http.StatusConflict:              "OPERATION_FAILED",
	http.StatusGone:                  "NOT_FOUND",
	http.StatusRequestEntityTooLarge: "BODY_ILLEGAL",
	http.StatusUnsupportedMediaType:  "BODY_TYPE_ERROR",
	http.StatusUnprocessableEntity:   "PARAMETER_INVALID",
	http.StatusGatewayTimeout:        "GATEWAY_ERROR",
}

// javaIndex finds a Java code by name. It is built at first use: most services never need it.
var javaIndex = sync.OnceValue(func() map[string]javaWire {
	index := make(map[string]javaWire, len(javaCodes))
	for _, c := range javaCodes {
		index[c.name] = javaWire{number: c.number, label: upperCamel(c.name)}
	}
	return index
})

// javaWire is a Java code as it is written.
type javaWire struct {
	number int
	label  string
}

// JavaCode returns the number and the label that the Java library has for a code: those of the same
// name, else of the code that says the same, else of the general code of the status. The numbers of the
// two tables overlap and mean different things; only names connect them.
func JavaCode(c *ErrorCode) (number int, label string) {
	index := javaIndex()
	if wire, ok := index[c.GetOutput()]; ok && class(wire.number/detailBase) == class(c.Status()) {
		return wire.number, wire.label
	}
	name, ok := javaSynonyms[c.GetOutput()]
	if !ok {
		name = javaGeneralName(c.Status())
	}
	wire := index[name]
	return wire.number, wire.label
}

// class is the first digit of a status. An application's code may share its name with a Java code that
// blames the other side; that is not the same code.
func class(status int) int { return status / 100 }

// javaGeneralName returns the general code of a status. RFC 9110, section 15, has clients treat a
// status that they do not know as the x00 of its class, and so does this.
func javaGeneralName(status int) string {
	if name, ok := javaGeneral[status]; ok {
		return name
	}
	if status >= http.StatusInternalServerError {
		return javaGeneral[http.StatusInternalServerError]
	}
	return javaGeneral[http.StatusBadRequest]
}

// upperCamel turns UPPER_SNAKE into UpperCamel.
func upperCamel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words {
		words[i] = w[:1] + strings.ToLower(w[1:])
	}
	return strings.Join(words, "")
}
