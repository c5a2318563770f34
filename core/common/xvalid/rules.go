package xvalid

import (
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-playground/validator/v10"
	"github.com/google/uuid"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

var ownRules = []struct {
	tag              string
	fn               validator.Func
	english, chinese string
}{
	{
		"strict_url", strictURL, "{0} must be a complete http or https URL",
		"{0}必须是完整的 http 或 https 网址",
	},
	{"strict_uuid", strictUUID, "{0} must be a valid UUID", "{0}必须是有效的 UUID"},
	{
		"alphanum_underscore", alphanumUnderscore,
		"{0} may contain only letters, digits and underscores",
		"{0}只能包含字母、数字和下划线",
	},
	{"regexp", matchesPattern, "{0} does not have the required format", "{0}不符合要求的格式"},
	{"enum_int", enumInt, "{0} must be one of [{1}]", "{0}必须是[{1}]中的一个"},
	{"enum_string", enumString, "{0} must be one of [{1}]", "{0}必须是[{1}]中的一个"},
	{"enum_float", enumFloat, "{0} must be one of [{1}]", "{0}必须是[{1}]中的一个"},
	{"snowflake", snowflake, "{0} must be a valid id", "{0}必须是有效的 ID"},
	{
		tooManyValues, fails, "{0} has too many elements: more than {1} values would be checked",
		"{0}的元素过多：需要校验的值超过 {1} 个",
	},
}

// unsupportedKind returns the panic value of a rule for an unsupported field type. It is
// a string, as in the validator.
func unsupportedKind(fl validator.FieldLevel) string {
	return fmt.Sprintf("field %s: rule %s does not support the type %s",
		fl.StructFieldName(), fl.GetTag(), fl.Field().Type())
}

func text(fl validator.FieldLevel) string {
	if fl.Field().Kind() != reflect.String {
		panic(unsupportedKind(fl))
	}
	return fl.Field().String()
}

func fails(validator.FieldLevel) bool { return false }

func alphanumUnderscore(fl validator.FieldLevel) bool { return consistsOf(text(fl), "_") }

// strictURL accepts an absolute http or https URL with a host. It rejects user
// information (RFC 9110, section 4.2.4) and white space.
func strictURL(fl validator.FieldLevel) bool {
	s := text(fl)
	if strings.IndexFunc(s, unicode.IsSpace) >= 0 || strings.IndexByte(s, '\\') >= 0 {
		return false
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Opaque != "" {
		return false
	}
	if strings.HasSuffix(u.Host, ":") {
		return false
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
	}
	return isHost(u.Hostname())
}

func isHost(host string) bool {
	if strings.IndexByte(host, ':') >= 0 {
		addr, err := netip.ParseAddr(host)
		return err == nil && addr.Is6()
	}
	host = strings.TrimSuffix(host, ".")
	if host == "" || len(host) > 253 {
		return false
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if strings.Trim(last, "0123456789") == "" { // a final number means an IPv4 address
		addr, err := netip.ParseAddr(host)
		return err == nil && addr.Is4()
	}
	for label := range strings.SplitSeq(host, ".") {
		if !isLabel(label) {
			return false
		}
	}
	return true
}

// isLabel accepts a label of a host name, including letters of other scripts.
func isLabel(label string) bool {
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for _, r := range label {
		if r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) &&
			!unicode.IsMark(r) {
			return false
		}
	}
	return true
}

var uuidType = reflect.TypeFor[uuid.UUID]()

// strictUUID accepts a UUID of version 1 to 8 with the variant of RFC 9562, as dashed
// text or as bytes. It rejects the nil UUID and the max UUID, which have neither version
// nor variant.
func strictUUID(fl validator.FieldLevel) bool {
	const dashed = 36 // the length of the text; uuid.Parse also accepts other forms
	var id uuid.UUID
	if f := fl.Field(); f.Kind() == reflect.Array && f.CanConvert(uuidType) {
		id, _ = reflect.TypeAssert[uuid.UUID](f.Convert(uuidType))
	} else if s := text(fl); len(s) == dashed {
		id, _ = uuid.Parse(s) // the nil UUID if s is invalid
	}
	return id.Variant() == uuid.RFC4122 && id.Version() >= 1 && id.Version() <= 8
}

// snowflake checks the kind, so it accepts any named integer type.
func snowflake(fl validator.FieldLevel) bool {
	switch f := fl.Field(); {
	case f.CanInt():
		return f.Int() > 0
	case f.CanUint():
		return f.Uint() > 0 && f.Uint() <= math.MaxInt64
	default:
		id, err := xsnowflake.ParseSnowflakeID(text(fl))
		return err == nil && id > 0
	}
}
