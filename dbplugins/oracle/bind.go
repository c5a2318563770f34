package oracle

import (
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"math"
	"reflect"
	"time"
	"unicode/utf8"

	go_ora "github.com/sijms/go-ora/v2"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	// longestText and longestRaw are what SQL takes as VARCHAR2 and RAW, in bytes. What
	// is longer is sent as a LOB, which the server turns into a VARCHAR2 if the column
	// is one and the text fits.
	longestText = 4000
	longestRaw  = 2000

	// These are near to what a NUMBER holds, as which the library sends every float64.
	smallestNumber, largestNumber = 1e-129, 1e125
)

var (
	errText  = errors.New("oracle: a text that is not valid UTF-8")
	errTime  = errors.New("oracle: a time outside of the years 1 to 9999")
	errFloat = errors.New("oracle: a floating-point number that a NUMBER does not hold")

	// utc is a zone without a name: the library would send a named one as a region, whose
	// rules the server may not share.
	utc = time.FixedZone("", 0)
)

// CheckNamedValue implements driver.NamedValueChecker: it is the one place that says how
// a Go value is bound.
func (c *conn) CheckNamedValue(v *sqldriver.NamedValue) (err error) {
	v.Value, err = bind(v.Value)
	return err
}

// bind returns the value that the library is given for v.
func bind(v any) (sqldriver.Value, error) {
	if own(v) {
		return v, nil
	}
	if _, ok := v.(sqldriver.Valuer); !ok {
		// database/sql refuses what does not fit an int64
		if rv := reflect.ValueOf(v); rv.IsValid() && rv.CanUint() {
			return rv.Uint(), nil
		}
	}
	plain, err := sqldriver.DefaultParameterConverter.ConvertValue(v)
	if err != nil {
		return nil, err
	}
	switch v := plain.(type) {
	case bool:
		return map[bool]int64{true: 1}[v], nil
	case string:
		return bindText(v)
	case []byte:
		return bindBytes(v), nil
	case time.Time:
		return bindTime(v)
	case float64:
		return bindFloat(v)
	default:
		return plain, nil
	}
}

// own reports whether a value is one of the library's types, or a place for what the
// server returns.
func own(v any) bool {
	switch v.(type) {
	case sql.Out, go_ora.Out, go_ora.Clob, go_ora.NClob, go_ora.Blob, go_ora.NVarChar,
		go_ora.TimeStamp, go_ora.TimeStampTZ:
		return true
	default:
		return false
	}
}

func bindFloat(f float64) (sqldriver.Value, error) {
	// also NaN
	if size := math.Abs(f); size != 0 && !(size >= smallestNumber && size <= largestNumber) {
		return nil, driver.Translate(driver.OutOfRange, errFloat, "")
	}
	return f, nil
}

func bindText(text string) (sqldriver.Value, error) {
	switch {
	case !utf8.ValidString(text):
		return nil, driver.Translate(driver.Malformed, errText, "")
	case len(text) > longestText:
		return go_ora.Clob{String: text, Valid: true}, nil
	default:
		return text, nil
	}
}

func bindBytes(data []byte) sqldriver.Value {
	switch {
	case data == nil:
		return nil
	case len(data) > longestRaw:
		return go_ora.Blob{Data: data, Valid: true}
	default:
		return data
	}
}

// bindTime returns the time in UTC and whole microseconds, which is what a column keeps.
func bindTime(t time.Time) (sqldriver.Value, error) {
	t = t.UTC().Truncate(time.Microsecond)
	if t.Year() < 1 || t.Year() > 9999 {
		return nil, driver.Translate(driver.OutOfRange, errTime, "")
	}
	return t.In(utc), nil
}
