package driver

import "time"

// Write specifies the expiry and the condition of a write.
type Write struct {
	// TTL is the time to live, in whole milliseconds; 0 means no expiry.
	TTL time.Duration
	// KeepTTL retains the expiry of an existing key. TTL then applies to a new key only.
	KeepTTL bool
	If      Condition
}

// Condition restricts a write.
type Condition uint8

// The conditions.
const (
	// Always writes.
	Always Condition = iota
	// IfAbsent writes only if the key or fields do not exist (NX).
	IfAbsent
	// IfPresent writes only if the key or fields exist (XX).
	IfPresent
)

// Holds reports whether the condition is met for a key that exists or not.
func (c Condition) Holds(exists bool) bool {
	return c == Always || (c == IfPresent) == exists
}

// End is an end of a list.
type End uint8

// Head and Tail are the first and the last position of a list.
const (
	Head End = iota
	Tail
)

// Field is a field of a hash.
type Field struct {
	Name  string
	Value []byte
}

// Item is one write of a batch.
type Item struct {
	Key   string
	Value []byte
	Write Write
}

// Bytes is an Object that consists of its encoded bytes.
type Bytes []byte

// Encode implements Object.
func (b Bytes) Encode() ([]byte, error) { return b, nil }
