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

// MarshalText implements encoding.TextMarshaler with the decimal id. JSON encodes it as a
// string, so an id can also be a key of a JSON object.
func (id SnowflakeID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText implements encoding.TextUnmarshaler like ParseSnowflakeID.
func (id *SnowflakeID) UnmarshalText(text []byte) error {
	return id.set(ParseSnowflakeID(string(text)))
}

// UnmarshalParam parses a path or query parameter for the web engine.
func (id *SnowflakeID) UnmarshalParam(param string) error { return id.set(ParseSnowflakeID(param)) }

// UnmarshalJSON accepts a decimal string or an integer. As usual in encoding/json, null
// leaves the id unchanged.
func (id *SnowflakeID) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	return id.set(ParseSnowflakeID(strings.Trim(string(data), `"`)))
}

// MarshalBinary returns the id as eight bytes in big-endian order, so that the bytes sort
// like the ids.
func (id SnowflakeID) MarshalBinary() ([]byte, error) {
	return binary.BigEndian.AppendUint64(nil, uint64(id)), nil // the same 64 bits
}

// UnmarshalBinary parses the output of MarshalBinary.
func (id *SnowflakeID) UnmarshalBinary(data []byte) error {
	if len(data) != 8 {
		return fmt.Errorf("%w: got %d bytes, want 8", ErrInvalidID, len(data))
	}
	return id.set(SnowflakeID(binary.BigEndian.Uint64(data)), nil) // the same 64 bits
}

// Value implements driver.Valuer. It returns an int64, which fits a BIGINT column.
func (id SnowflakeID) Value() (driver.Value, error) { return int64(id), nil }

// Scan implements sql.Scanner for an integer, decimal text, and NULL, which becomes 0.
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
		return fmt.Errorf("%w: unsupported column type %T", ErrInvalidID, src)
	}
}

// GormDataType returns the column type for gorm. With it, gorm does not treat a key of
// this type as auto-increment.
func (SnowflakeID) GormDataType() string { return "bigint" }

// set stores n unless err is not nil or n is negative.
func (id *SnowflakeID) set(n SnowflakeID, err error) error {
	if n < 0 {
		err = fmt.Errorf("%w: negative", ErrInvalidID)
	}
	if err == nil {
		*id = n
	}
	return err
}
