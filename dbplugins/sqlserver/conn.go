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

// conn is the library's connection, with a look at each parameter.
type conn struct {
	*mssql.Conn

	wires *wires
}

// Close implements driver.Conn. The library's own would give the buffers of the
// connection to the next one, also while the rest of an answer is still read into them.
func (c *conn) Close() error {
	c.wires.cut()
	return nil
}

var (
	errNoUTF8   = errors.New("the text is not valid UTF-8")
	errNoYear   = errors.New("the time is outside of the years 1 to 9999")
	errTooLarge = errors.New("the number is larger than a bigint")
)

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool { return c.Conn.IsValid() && !c.wires.closed() }

// CheckNamedValue implements driver.NamedValueChecker. Times go in UTC, for the column
// keeps the offset that it is given. What the library would alter without a word is
// mended or refused: a text that is not UTF-8, a time that the type cannot hold, an int8
// below zero.
func (c *conn) CheckNamedValue(nv *sqldriver.NamedValue) error {
	switch v := nv.Value.(type) {
	case mssql.VarChar, mssql.VarCharMax: // bytes of a code page
		return c.Conn.CheckNamedValue(nv)
	case int8:
		nv.Value = int16(v)
		return nil
	}
	if tooLarge(nv.Value) {
		return driver.Translate(driver.OutOfRange, errTooLarge, errTooLarge.Error())
	}
	plain, err := sqldriver.DefaultParameterConverter.ConvertValue(nv.Value)
	if err != nil { // a type of the library's own
		return c.Conn.CheckNamedValue(nv)
	}
	switch v := plain.(type) {
	case string:
		if !utf8.ValidString(v) {
			return driver.Translate(driver.Malformed, errNoUTF8, errNoUTF8.Error())
		}
	case time.Time:
		v = v.UTC()
		if v.Year() < 1 || v.Year() > 9999 {
			return driver.Translate(driver.OutOfRange, errNoYear, errNoYear.Error())
		}
		nv.Value = v
		return nil
	}
	return c.Conn.CheckNamedValue(nv)
}

// tooLarge reports whether a value is a number that only an unsigned one of 64 bits can
// be.
func tooLarge(value any) bool {
	v := reflect.ValueOf(value)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v.CanUint() && v.Uint() > math.MaxInt64
}
