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
	// longestText and longestRaw are the maximum sizes of VARCHAR2 and RAW in bytes.
	// Longer values are sent as LOBs, which the server converts to VARCHAR2 if they fit
	// the column.
	longestText = 4000
	longestRaw  = 2000

	// Approximate limits of NUMBER. The library sends every float64 as a NUMBER.
	smallestNumber, largestNumber = 1e-129, 1e125
)

var (
	errText  = errors.New("oracle: the string is not valid UTF-8")
	errTime  = errors.New("oracle: the year of the time is not in the range 1 to 9999")
	errFloat = errors.New("oracle: the floating-point number is out of the range of NUMBER")

	// utc is a time zone without a name. The library would send a name as a region, whose
	// rules may differ on the server.
	utc = time.FixedZone("", 0)
)

// CheckNamedValue implements driver.NamedValueChecker.
func (c *conn) CheckNamedValue(v *sqldriver.NamedValue) (err error) {
	v.Value, err = bind(v.Value)
	return err
}

// bind returns the value that is passed to the library for v.
func bind(v any) (sqldriver.Value, error) {
	if isLibraryType(v) {
		return v, nil
	}
	if _, ok := v.(sqldriver.Valuer); !ok {
		// database/sql rejects values above the int64 range
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

// isLibraryType reports whether a value has a type of the library or is an output
// parameter.
func isLibraryType(v any) bool {
	switch v.(type) {
	case sql.Out, go_ora.Out, go_ora.Clob, go_ora.NClob, go_ora.Blob, go_ora.NVarChar,
		go_ora.TimeStamp, go_ora.TimeStampTZ:
		return true
	default:
		return false
	}
}

func bindFloat(f float64) (sqldriver.Value, error) {
	// also true for NaN
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

// bindTime returns the time in UTC, truncated to the microseconds of a column.
func bindTime(t time.Time) (sqldriver.Value, error) {
	t = t.UTC().Truncate(time.Microsecond)
	if t.Year() < 1 || t.Year() > 9999 {
		return nil, driver.Translate(driver.OutOfRange, errTime, "")
	}
	return t.In(utc), nil
}
