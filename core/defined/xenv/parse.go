package xenv

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// assign parses text into field. If text is invalid, assign returns a Problem and does
// not change the field.
func (v Var) assign(field reflect.Value, text string) error {
	value := reflect.New(field.Type()).Elem()
	if problem := v.read(value, text); problem != "" {
		return v.problem(text, problem)
	}
	field.Set(value)
	return nil
}

// read parses text into into. It returns a description of the problem, or "".
func (v Var) read(into reflect.Value, text string) (problem string) {
	switch v.Type {
	case TypeBool:
		b, ok := parseBool(text)
		if !ok {
			return "is not a boolean"
		}
		into.SetBool(b)
	case TypeInt:
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return "is not an integer"
		}
		return v.setInt(into, n)
	case TypeFloat:
		f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		into.SetFloat(f)
		f = into.Float() // a float32 may overflow
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return "is not a finite number"
		}
	case TypeDuration:
		return v.setDuration(into, strings.TrimSpace(text))
	case TypeList:
		into.Set(reflect.ValueOf(parseList(text)))
	default:
		return v.setText(into, text)
	}
	return ""
}

// parseBool is like strconv.ParseBool but also accepts yes, no, on and off, in any case.
func parseBool(s string) (bool, bool) {
	switch strings.ToLower(s) {
	case "yes", "on":
		return true, true
	case "no", "off":
		return false, true
	}
	v, err := strconv.ParseBool(strings.ToLower(s))
	return v, err == nil
}

func parseList(s string) (list []string) {
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// setDuration parses a duration such as "1m30s". If the variable has a unit, it also
// accepts an integer.
func (v Var) setDuration(into reflect.Value, text string) string {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && v.Unit != 0 {
		d := time.Duration(n) * v.Unit
		if d/v.Unit != time.Duration(n) {
			return "is out of range"
		}
		return v.setInt(into, int64(d))
	}
	d, err := time.ParseDuration(text)
	if err == nil {
		return v.setInt(into, int64(d))
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return "has no unit"
	}
	return "is not a duration"
}

func (v Var) setInt(into reflect.Value, n int64) string {
	switch {
	case !v.inRange(n):
		return "is out of range"
	case into.CanInt() && !into.OverflowInt(n):
		into.SetInt(n)
	case into.CanUint() && n >= 0 && !into.OverflowUint(uint64(n)):
		into.SetUint(uint64(n))
	default:
		return "does not fit " + into.Type().String()
	}
	return ""
}

func (v Var) setText(into reflect.Value, text string) string {
	if v.Type == TypeEnum && !slices.Contains(v.Values, text) {
		return "is not one of the values"
	}
	if !v.inRange(int64(len(text))) {
		return fmt.Sprintf("has %d bytes", len(text))
	}
	u, ok := reflect.TypeAssert[encoding.TextUnmarshaler](into.Addr())
	if !ok {
		into.SetString(text)
		return ""
	}
	if err := u.UnmarshalText([]byte(text)); err != nil {
		return "is not accepted: " + err.Error()
	}
	return ""
}
