package xerror

import (
	"strings"
	"sync"
)

// javaCodes are the known codes of the Java library: number, name, and the names of the codes of the
// catalogue that become it. A code whose name is not here becomes what the general code of its status
// does.
var javaCodes = [...]struct {
	number        int
	name, aliases string
}{
	{40000, "NOT_EXIST", "FILE_NOT_FOUND"},
	{40001, "EXISTED", "DATA_DUPLICATE DUPLICATE_ENTRY UNIQUE_CONSTRAINT"},
	{40002, "PARAMETER_ERROR", "VALIDATION_ERROR FORMAT_ERROR LENGTH_ERROR RANGE_ERROR PATTERN_ERROR DATA_ERROR " +
		"DATA_OUT_OF_RANGE DATA_TOO_LARGE DATA_TOO_SMALL FILE_SIZE_EXCEEDED"},
	{40003, "PARAMETER_MISSING", "PARAMETER_EMPTY DATA_INCOMPLETE FILE_EMPTY"},
	{40004, "PARAMETER_INVALID", "INVALID_VALUE INVALID_FORMAT INVALID_INPUT DATA_INVALID DATA_NOT_MATCH " +
		"FILE_FORMAT_ERROR UNPROCESSABLE_ENTITY"},
	{40005, "PARAMETER_ILLEGAL", "FILE_TYPE_NOT_ALLOWED"},
	{40006, "PARAMETER_TYPE_ERROR", "PARAMETER_TYPE TYPE_MISMATCH"},
	{40007, "BODY_ERROR", ""},
	{40008, "BODY_MISSING", "BODY_EMPTY"},
	{40009, "BODY_INVALID", ""},
	{40010, "BODY_ILLEGAL", "PAYLOAD_TOO_LARGE"},
	{40011, "BODY_TYPE_ERROR", "BODY_TYPE UNSUPPORTED_MEDIA UNSUPPORTED_TYPE"},
	{40012, "HEADER_ERROR", ""},
	{40013, "HEADER_MISSING", "HEADER_EMPTY"},
	{40014, "HEADER_INVALID", ""},
	{40015, "HEADER_ILLEGAL", ""},
	{40016, "HEADER_TYPE_ERROR", "HEADER_TYPE"},
	{40017, "OPERATION_ERROR", "BUSINESS_ERROR"},
	{40018, "OPERATION_FAILED", "CANCELED DATA_CONFLICT FILE_UPLOAD_ERROR FILE_DOWNLOAD_ERROR FILE_READ_ERROR " +
		"FILE_WRITE_ERROR FILE_DELETE_ERROR TRANSACTION_FAILED BALANCE_INSUFFICIENT " +
		"STOCK_INSUFFICIENT CONFLICT"},
	{40019, "OPERATION_INVALID", "INVALID_STATE STATE_ERROR FLOW_ERROR"},
	{40020, "OPERATION_ILLEGAL", ""},
	{40021, "OPERATION_DENIED", "REJECTED QUOTA_EXCEEDED LIMIT_EXCEEDED"},
	{40022, "OPERATION_NOT_ALLOWED", "DISABLED LOCKED PENDING REPEAT_OPERATION RULE_VIOLATION CONDITION_NOT_MET"},
	{40023, "OPERATION_NOT_SUPPORTED", "UNSUPPORTED_OPERATION"},
	{40024, "BAD_REQUEST", ""},
	{40025, "OPERATION_TYPE_ERROR", ""},
	{40026, "EXPIRED", "VERSION_EXPIRED"},
	{40027, "REQUEST_ERROR", ""},

	{40101, "UNAUTHORIZED", ""},
	{40102, "LOGIN_FAILED", "CREDENTIAL_ERROR USER_NOT_FOUND PASSWORD_ERROR ACCOUNT_NOT_EXIST"},

	{40301, "FORBIDDEN", ""},
	{40302, "PERMISSION_DENIED", "ROLE_DENIED RESOURCE_DENIED"},
	{40303, "ACCESS_LIMITED", "IP_BLOCKED REGION_BLOCKED DEVICE_BLOCKED"},

	{40401, "PAGE_NOT_FOUND", "API_NOT_FOUND ROUTE_NOT_FOUND"},
	{40402, "NOT_FOUND", "GONE"},
	{40403, "RESOURCE_NOT_FOUND", "SERVICE_NOT_FOUND RECORD_NOT_FOUND"},

	{40501, "METHOD_NOT_ALLOWED", ""},

	{40601, "NOT_ACCEPTABLE", ""},

	{40801, "TIMEOUT", ""},
	{40802, "CONNECTION_TIMEOUT", "CONNECT_TIMEOUT"},
	{40803, "READ_TIMEOUT", ""},
	{40804, "WRITE_TIMEOUT", ""},

	{42901, "TOO_MANY_REQUESTS", ""},
	{42902, "REQUEST_RATE_TOO_HIGH", "RATE_LIMITED THROTTLE_EXCEEDED"},

	{50001, "SERVER_INTERNAL_ERROR", ""},
	{50002, "DATABASE_ERROR", ""},
	{50003, "CACHE_ERROR", ""},
	{50004, "FILE_ERROR", ""},
	{50005, "STORAGE_ERROR", "OSS_ERROR"},
	{50006, "REMOTE_CALL_ERROR", "REMOTE_ERROR THIRD_PARTY_ERROR API_CALL_FAILED CALLBACK_ERROR WEBHOOK_ERROR " +
		"SMS_ERROR EMAIL_ERROR PAYMENT_ERROR CDN_ERROR PUSH_ERROR"},
	{50007, "CONFIGURATION_ERROR", "CONFIG_ERROR"},
	{50008, "RESOURCE_EXHAUSTED", "POOL_EXHAUSTED QUEUE_FULL MEMORY_ERROR"},
	{50009, "NETWORK_ERROR", ""},
	{50010, "NETWORK_NOT_SUCCESS", ""},

	{50201, "GATEWAY_ERROR", "GATEWAY_TIMEOUT"},

	{50301, "SERVICE_UNAVAILABLE", ""},
	{50302, "SYSTEM_MAINTENANCE", ""},

	{50999, "UNKNOWN_ERROR", ""},
}

// javaUnknown is the Java library's own status of an unknown error.
const javaUnknown = 509

// javaWire is a Java code as it is written: its label is the UpperCamel form of its name.
type javaWire struct {
	number int
	label  string
}

// javaIndex finds a Java code by the name of a code. It is built at first use: most services never need it.
var javaIndex = sync.OnceValue(func() map[string]javaWire {
	index := map[string]javaWire{}
	for _, c := range javaCodes {
		wire := javaWire{number: c.number, label: upperCamel(c.name)}
		index[c.name] = wire
		for alias := range strings.FieldsSeq(c.aliases) {
			index[alias] = wire
		}
	}
	return index
})

// JavaCode returns the number and the label that the Java library has for a code: those of the same
// name, else of the code that says the same, else of the general code of the status. The numbers of the
// two tables overlap and mean different things; only names connect them.
func JavaCode(c *ErrorCode) (number int, label string) {
	wire, ok := javaIndex()[c.GetOutput()]
	if !ok || class(wire.number/detailBase) != class(c.Status()) {
		general := ForStatus(c.Status())
		if c.Status() == javaUnknown {
			general = UnknownError
		}
		wire = javaIndex()[general.GetOutput()]
	}
	return wire.number, wire.label
}

// class is the first digit of a status. An application's code may share its name with a Java code that
// blames the other side; that is not the same code.
func class(status int) int { return status / 100 }

// upperCamel turns UPPER_SNAKE into UpperCamel.
func upperCamel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words {
		words[i] = w[:1] + strings.ToLower(w[1:])
	}
	return strings.Join(words, "")
}
