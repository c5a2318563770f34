package xutil

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// ErrParse is what every text or value that cannot be read is an instance of. The errors
// do not repeat it.
var ErrParse = errors.New("xutil: cannot be read")

// Parser reads values; get it with Parse.
type Parser struct{}

// Parse returns the group that reads values from text. Blanks around the text are
// ignored. Its errors are ErrParse, for numbers also strconv.ErrSyntax or
// strconv.ErrRange.
func Parse() Parser { return Parser{} }

// Int64 reads a decimal integer of 64 bits.
func (Parser) Int64(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n, numberError(err, "an integer")
}

// Float reads a finite number.
func (Parser) Float(text string) (float64, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
		f, err = 0, strconv.ErrRange
	}
	return f, numberError(err, "a finite number")
}

// Bool reads what ToBool reads.
func (Parser) Bool(text string) (bool, error) {
	b, ok := toBool(text)
	if !ok {
		return false, fmt.Errorf("%w: not a boolean", ErrParse)
	}
	return b, nil
}

// ToInt64 converts a number or a text, of any type, such as json.Number. A fraction, NaN,
// an infinity and what does not fit 64 bits are errors.
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
		return int64(r.Uint()), nil // compared above
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

// numberError hides the text that strconv would repeat: it may be a secret in the wrong
// variable.
func numberError(err error, what string) error {
	if err == nil {
		return nil
	}
	if num, ok := errors.AsType[*strconv.NumError](err); ok {
		err = num.Err
	}
	return fmt.Errorf("%w: not %s: %w", ErrParse, what, err)
}
