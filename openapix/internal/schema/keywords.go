package schema

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// requiredOf returns the keywords of the rule required for a value that is not a pointer.
func requiredOf(c class) *Schema {
	switch c {
	case classText:
		return &Schema{MinLength: new(int64(1))}
	case classInt, classFloat:
		return &Schema{Not: &Schema{Const: json.Number("0")}}
	case classBool:
		return &Schema{Const: true}
	case classID:
		return &Schema{Pattern: patternPositive}
	default:
		return &Schema{}
	}
}

// unescape replaces the escapes of comma and pipe in tags.
var unescape = strings.NewReplacer("0x2C", ",", "0x7C", "|")

// keywords returns the keywords of a rule. It returns nil if the rule has no keyword for
// the class, and exact if the keywords accept the same values as the rule.
func keywords(rule, name, param string, c class, t reflect.Type) (s *Schema, exact bool) {
	if strings.Contains(rule, "|") {
		return alternatives(rule, c, t)
	}
	if f := classRules[c]; f != nil {
		return f(name, unescape.Replace(param), t)
	}
	return nil, false
}

// classRules return the keywords of a rule for the values of a class.
var classRules = map[class]func(name, param string, t reflect.Type) (s *Schema, exact bool){
	classText: textRule, classInt: numberRule, classFloat: numberRule, classBool: boolRule,
	classList: listRule, classArray: listRule, classMap: mapRule, classID: idRule,
}

func listRule(name, param string, t reflect.Type) (s *Schema, exact bool) {
	if name == "unique" && param == "" && isBasic(t.Elem().Kind()) {
		return &Schema{UniqueItems: true}, true
	}
	return sizeRule(name, param, func(minimum, maximum *int64) *Schema {
		return &Schema{MinItems: minimum, MaxItems: maximum}
	})
}

func mapRule(name, param string, _ reflect.Type) (s *Schema, exact bool) {
	return sizeRule(name, param, func(minimum, maximum *int64) *Schema {
		return &Schema{MinProperties: minimum, MaxProperties: maximum}
	})
}

func idRule(name, param string, _ reflect.Type) (s *Schema, exact bool) {
	if name == "snowflake" || name == "min" && param == "1" || name == "gt" && param == "0" {
		return &Schema{Pattern: patternPositive}, true
	}
	return nil, false
}

func isBasic(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Float64 || k == reflect.String
}

// alternatives returns the keywords of rules that are joined by a pipe, of which one must
// hold.
func alternatives(rules string, c class, t reflect.Type) (s *Schema, exact bool) {
	s, exact = &Schema{}, true
	for rule := range strings.SplitSeq(rules, "|") {
		name, param, _ := strings.Cut(rule, "=")
		one, ok := keywords(rule, name, param, c, t)
		if one == nil {
			return nil, false
		}
		if typ := classTypes[c]; typ != "" {
			one.Types = []string{typ} // otherwise it is any type for generators of clients
		}
		s.AnyOf, exact = append(s.AnyOf, one), exact && ok
	}
	return s, exact
}

// sizeRule returns the keywords of a rule for a length.
func sizeRule(
	name, param string, keyword func(minimum, maximum *int64) *Schema,
) (s *Schema, exact bool) {
	n, err := strconv.ParseInt(param, 0, 64)
	if err != nil {
		return nil, false
	}
	switch name {
	case "min", "gte":
		return keyword(&n, nil), true
	case "gt":
		return keyword(new(n+1), nil), true
	case "max", "lte":
		return keyword(nil, &n), true
	case "lt":
		return keyword(nil, new(n-1)), true
	case "len", "eq":
		return keyword(&n, new(n)), true
	default:
		return nil, false
	}
}

// numberRule returns the keywords of a rule for a number.
func numberRule(name, param string, t reflect.Type) (s *Schema, exact bool) {
	switch name {
	case "oneof", "enum_int", "enum_float":
		return numbers(param, func(list []any) *Schema { return &Schema{Enum: list} })
	case "noneof":
		return numbers(param, func(list []any) *Schema { return &Schema{Not: &Schema{Enum: list}} })
	case "numeric", "number":
		return &Schema{}, true
	case "snowflake":
		return &Schema{ExclusiveMinimum: "0"}, true
	}
	bound := bounds[name]
	n, ok := numberOf(param, t)
	if bound == nil || !ok {
		return nil, false
	}
	return bound(n), true
}

// bounds are the keywords of the rules that compare a number with their parameter.
var bounds = map[string]func(n json.Number) *Schema{
	"min": func(n json.Number) *Schema { return &Schema{Minimum: n} },
	"gte": func(n json.Number) *Schema { return &Schema{Minimum: n} },
	"gt":  func(n json.Number) *Schema { return &Schema{ExclusiveMinimum: n} },
	"max": func(n json.Number) *Schema { return &Schema{Maximum: n} },
	"lte": func(n json.Number) *Schema { return &Schema{Maximum: n} },
	"lt":  func(n json.Number) *Schema { return &Schema{ExclusiveMaximum: n} },
	"len": func(n json.Number) *Schema { return &Schema{Const: n} },
	"eq":  func(n json.Number) *Schema { return &Schema{Const: n} },
	"ne":  func(n json.Number) *Schema { return &Schema{Not: &Schema{Const: n}} },
}

// numberOf returns the parameter of a rule as a number in JSON.
func numberOf(param string, t reflect.Type) (json.Number, bool) {
	if t == durationType {
		if d, err := time.ParseDuration(param); err == nil {
			return json.Number(strconv.FormatInt(int64(d), 10)), true
		}
	}
	if n, err := strconv.ParseInt(param, 0, 64); err == nil {
		return json.Number(strconv.FormatInt(n, 10)), true
	}
	if n, err := strconv.ParseUint(param, 0, 64); err == nil {
		return json.Number(strconv.FormatUint(n, 10)), true
	}
	if f, err := strconv.ParseFloat(param, 64); err == nil {
		return json.Number(strconv.FormatFloat(f, 'g', -1, 64)), true
	}
	return "", false
}

func numbers(param string, keyword func([]any) *Schema) (s *Schema, exact bool) {
	var list []any
	for _, text := range words(strings.NewReplacer(",", " ", "|", " ").Replace(param)) {
		n, ok := numberOf(text, nil)
		if !ok {
			return nil, false
		}
		list = append(list, n)
	}
	return keyword(list), list != nil
}

func boolRule(name, param string, _ reflect.Type) (s *Schema, exact bool) {
	value, err := strconv.ParseBool(param)
	switch {
	case name == "boolean":
		return &Schema{}, true
	case name == "eq" && err == nil:
		return &Schema{Const: value}, true
	case name == "ne" && err == nil:
		return &Schema{Const: !value}, true
	default:
		return nil, false
	}
}

var wordPattern = regexp.MustCompile(`'[^']*'|\S+`)

// words splits the parameter of oneof. A word with spaces is in single quotes.
func words(param string) []string {
	list := wordPattern.FindAllString(param, -1)
	for i, word := range list {
		list[i] = strings.ReplaceAll(word, "'", "")
	}
	return list
}
