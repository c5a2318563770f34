package schema

import (
	"reflect"
	"regexp"
	"time"
)

// patterns are the rules for strings that a regular expression expresses exactly.
var patterns = map[string]string{
	"alpha":               `^[a-zA-Z]+$`,
	"alphanum":            `^[a-zA-Z0-9]+$`,
	"alphaspace":          `^[a-zA-Z ]+$`,
	"alphanumspace":       `^[a-zA-Z0-9 ]+$`,
	"alphanum_underscore": `^[a-zA-Z0-9_]+$`,
	"numeric":             `^[-+]?[0-9]+(?:\.[0-9]+)?$`,
	"number":              `^[0-9]+$`,
	"hexadecimal":         `^(0[xX])?[0-9a-fA-F]+$`,
	"hexcolor":            `^#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$`,
	"e164":                `^\+?[1-9][0-9]{7,14}$`,
	"ascii":               `^[\x00-\x7F]*$`,
	"printascii":          `^[\x20-\x7E]*$`,
	"boolean":             `^(1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)$`,
	"md5":                 `^[0-9a-f]{32}$`,
	"sha256":              `^[0-9a-f]{64}$`,
	"sha512":              `^[0-9a-f]{128}$`,
	"mongodb":             `^[a-f0-9]{24}$`,
	"hostname":            `^[a-zA-Z]` + hostnameRest,
	"hostname_rfc1123":    `^[a-zA-Z0-9]` + hostnameRest,
	"snowflake":           patternPositive,
}

const hostnameRest = `([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`

// uuids are the rules for UUIDs, which have a format and a pattern.
var uuids = map[string]string{
	"uuid":        `^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`,
	"uuid3":       `^[0-9a-f]{8}-[0-9a-f]{4}-3[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`,
	"uuid4":       `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`,
	"uuid5":       `^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`,
	"uuid7":       `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`,
	"strict_uuid": `^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$`,
}

// formats are the rules for strings that a format expresses, but not exactly.
var formats = map[string]string{
	"email":      "email",
	"url":        "uri",
	"http_url":   "uri",
	"https_url":  "uri",
	"uri":        "uri",
	"strict_url": "uri",
	"ipv4":       "ipv4",
	"ipv6":       "ipv6",
	"fqdn":       "hostname",
}

// textRule returns the keywords of a rule for a string.
func textRule(name, param string, _ reflect.Type) (s *Schema, exact bool) {
	if p, ok := patterns[name]; ok {
		return &Schema{Pattern: p}, name != "snowflake"
	}
	if p, ok := uuids[name]; ok {
		return &Schema{Format: "uuid", Pattern: p}, true
	}
	if f, ok := formats[name]; ok {
		return &Schema{Format: f}, false
	}
	switch name {
	case "ip":
		four, six := Of("string"), Of("string")
		four.Format, six.Format = "ipv4", "ipv6"
		return &Schema{AnyOf: []*Schema{four, six}}, false
	case "oneof", "enum_string":
		return enum(param), true
	case "noneof":
		return &Schema{Not: enum(param)}, true
	case "eq":
		return &Schema{Const: param}, true
	case "ne":
		return &Schema{Not: &Schema{Const: param}}, true
	case "regexp":
		return portable(param)
	case "datetime":
		return datetime(param)
	}
	if s := partRule(name, regexp.QuoteMeta(param)); s != nil {
		return s, true
	}
	return sizeRule(name, param, func(minimum, maximum *int64) *Schema {
		return &Schema{MinLength: minimum, MaxLength: maximum}
	})
}

func enum(param string) *Schema {
	s := &Schema{}
	for _, word := range words(param) {
		s.Enum = append(s.Enum, word)
	}
	return s
}

// partRule returns the keywords of a rule for a part of a string, or nil.
func partRule(name, part string) *Schema {
	switch name {
	case "contains":
		return &Schema{Pattern: part}
	case "startswith":
		return &Schema{Pattern: "^" + part}
	case "endswith":
		return &Schema{Pattern: part + "$"}
	case "excludes":
		return &Schema{Not: &Schema{Pattern: part}}
	case "startsnotwith":
		return &Schema{Not: &Schema{Pattern: "^" + part}}
	case "endsnotwith":
		return &Schema{Not: &Schema{Pattern: part + "$"}}
	default:
		return nil
	}
}

// goOnly matches the syntax of Go that ECMA 262 does not have, or reads differently.
var goOnly = regexp.MustCompile(`\(\?[^:]|\[\[:|\\[AzQECpP]`)

// portable returns the pattern of a regexp rule if every dialect reads it in the same
// way.
func portable(pattern string) (s *Schema, exact bool) {
	if goOnly.MatchString(pattern) {
		return nil, false
	}
	return &Schema{Pattern: pattern}, true
}

// datetime returns the keywords of a layout of package time.
func datetime(layout string) (s *Schema, exact bool) {
	switch layout {
	case time.RFC3339, time.RFC3339Nano:
		return &Schema{Format: "date-time"}, false
	case time.DateOnly:
		return &Schema{Format: "date"}, true
	default:
		return nil, false
	}
}
