package sqlserver

import (
	sqldriver "database/sql/driver"
	"errors"
	"math"
	"reflect"
	"time"
	"unicode/utf8"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// conn is a connection of the library that checks parameters and cancels statements.
type conn struct {
	*mssql.Conn

	wires *wires
}

// Close implements driver.Conn. It does not call the library's Close, which reuses the
// buffers of the connection while a response may still be read into them.
func (c *conn) Close() error {
	c.wires.close()
	return nil
}

var (
	errInvalidUTF8 = errors.New("the string is not valid UTF-8")
	errYearRange   = errors.New("the year of the time is not in the range 1 to 9999")
	errTooLarge    = errors.New("the number is out of the range of bigint")
)

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool { return c.Conn.IsValid() && !c.wires.closed() }

// CheckNamedValue implements driver.NamedValueChecker. It converts times to UTC, because
// a column would store their offset. It converts or rejects values that the library would
// change without an error: invalid UTF-8, a time out of range, and a negative int8.
func (c *conn) CheckNamedValue(nv *sqldriver.NamedValue) error {
	switch v := nv.Value.(type) {
	case mssql.VarChar, mssql.VarCharMax: // bytes in a code page
		return c.Conn.CheckNamedValue(nv)
	case int8:
		nv.Value = int16(v)
		return nil
	}
	if tooLarge(nv.Value) {
		return driver.Translate(driver.OutOfRange, errTooLarge, errTooLarge.Error())
	}
	plain, err := sqldriver.DefaultParameterConverter.ConvertValue(nv.Value)
	if err != nil { // a type of the library
		return c.Conn.CheckNamedValue(nv)
	}
	switch v := plain.(type) {
	case string:
		if !utf8.ValidString(v) {
			return driver.Translate(driver.Malformed, errInvalidUTF8, errInvalidUTF8.Error())
		}
	case time.Time:
		v = v.UTC()
		if v.Year() < 1 || v.Year() > 9999 {
			return driver.Translate(driver.OutOfRange, errYearRange, errYearRange.Error())
		}
		nv.Value = v
		return nil
	}
	return c.Conn.CheckNamedValue(nv)
}

// tooLarge reports whether a value is an unsigned integer above math.MaxInt64.
func tooLarge(value any) bool {
	v := reflect.ValueOf(value)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v.CanUint() && v.Uint() > math.MaxInt64
}
