package xutil

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// ErrParse is wrapped by all parse and conversion errors. The errors do not contain the
// input.
var ErrParse = errors.New("xutil: invalid value")

// Parser parses values. See Parse.
type Parser struct{}

// Parse returns the Parser group. Its methods ignore white space around the text. Their
// errors wrap ErrParse. Errors for numbers also wrap strconv.ErrSyntax or
// strconv.ErrRange.
func Parse() Parser { return Parser{} }

// Int64 parses a decimal 64-bit integer.
func (Parser) Int64(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n, numberError(err, "an integer")
}

// Float parses a finite number.
func (Parser) Float(text string) (float64, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
		f, err = 0, strconv.ErrRange
	}
	return f, numberError(err, "a finite number")
}

// Bool parses the values that ToBool accepts.
func (Parser) Bool(text string) (bool, error) {
	b, ok := toBool(text)
	if !ok {
		return false, fmt.Errorf("%w: not a boolean", ErrParse)
	}
	return b, nil
}

// ToInt64 converts a number or a string of any type, such as json.Number. It returns an
// error for fractions, NaN, infinities and values that overflow int64.
func (p Parser) ToInt64(v any) (int64, error) {
	switch r := reflect.ValueOf(v); {
	case !r.IsValid():
		return 0, fmt.Errorf("%w: nil is not an integer", ErrParse)
	case r.Kind() == reflect.String:
		return p.Int64(r.String())
	case r.CanInt():
		return r.Int(), nil
	case r.CanUint():
		if r.Uint() > math.MaxInt64 {
			return 0, numberError(strconv.ErrRange, "an integer")
		}
		return int64(r.Uint()), nil // checked above
	case r.CanFloat():
		return floatToInt64(r.Float())
	}
	return 0, fmt.Errorf("%w: a %T is not an integer", ErrParse, v)
}

func floatToInt64(f float64) (int64, error) {
	switch {
	case math.IsNaN(f) || f != math.Trunc(f) && !math.IsInf(f, 0):
		return 0, numberError(strconv.ErrSyntax, "an integer")
	case f < -1<<63 || f >= 1<<63: // 2^63 is a float64, 2^63-1 is not
		return 0, numberError(strconv.ErrRange, "an integer")
	}
	return int64(f), nil
}

// numberError removes the input from an error of strconv, because it may be a secret.
func numberError(err error, what string) error {
	if err == nil {
		return nil
	}
	if num, ok := errors.AsType[*strconv.NumError](err); ok {
		err = num.Err
	}
	return fmt.Errorf("%w: not %s: %w", ErrParse, what, err)
}
