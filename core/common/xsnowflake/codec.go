package xsnowflake

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// AppendText implements encoding.TextAppender.
func (id SnowflakeID) AppendText(dst []byte) ([]byte, error) {
	return strconv.AppendInt(dst, int64(id), 10), nil
}

// MarshalText implements encoding.TextMarshaler: the id in decimal, which JSON writes as
// a string, so that an id can also be a key of a JSON object.
func (id SnowflakeID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText implements encoding.TextUnmarshaler; it accepts what ParseSnowflakeID
// accepts.
func (id *SnowflakeID) UnmarshalText(text []byte) error {
	return id.set(ParseSnowflakeID(string(text)))
}

// UnmarshalParam reads a path or query parameter, for the web engine.
func (id *SnowflakeID) UnmarshalParam(param string) error { return id.set(ParseSnowflakeID(param)) }

// UnmarshalJSON accepts a decimal string or an integer. As usual in encoding/json, null
// changes nothing.
func (id *SnowflakeID) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	return id.set(ParseSnowflakeID(strings.Trim(string(data), `"`)))
}

// MarshalBinary writes the id as eight bytes, most significant first, so that bytes sort
// like ids.
func (id SnowflakeID) MarshalBinary() ([]byte, error) {
	return binary.BigEndian.AppendUint64(nil, uint64(id)), nil // the same 64 bits
}

// UnmarshalBinary reads what MarshalBinary wrote.
func (id *SnowflakeID) UnmarshalBinary(data []byte) error {
	if len(data) != 8 {
		return fmt.Errorf("%w: %d bytes where there must be 8", ErrInvalidID, len(data))
	}
	return id.set(SnowflakeID(binary.BigEndian.Uint64(data)), nil) // the same 64 bits
}

// Value implements driver.Valuer: the id is a BIGINT.
func (id SnowflakeID) Value() (driver.Value, error) { return int64(id), nil }

// Scan implements sql.Scanner for an integer, a decimal text, and NULL, which is the zero
// id.
func (id *SnowflakeID) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*id = 0
		return nil
	case int64:
		return id.set(SnowflakeID(v), nil)
	case string:
		return id.set(ParseSnowflakeID(v))
	case []byte:
		return id.set(ParseSnowflakeID(string(v)))
	default:
		return fmt.Errorf("%w: a column of type %T", ErrInvalidID, src)
	}
}

// GormDataType names the column type for gorm, which therefore takes no key of this type
// for an auto-increment one.
func (SnowflakeID) GormDataType() string { return "bigint" }

// set stores n unless there is an error, or n is negative.
func (id *SnowflakeID) set(n SnowflakeID, err error) error {
	if n < 0 {
		err = fmt.Errorf("%w: negative", ErrInvalidID)
	}
	if err == nil {
		*id = n
	}
	return err
}
