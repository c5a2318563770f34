package driver

import "time"

// Write says what a write does to the key's expiry, and under which condition it happens
// at all.
type Write struct {
	// TTL is the time to live, in whole milliseconds; 0 is for ever.
	TTL time.Duration
	// Keep leaves the expiry of a key that exists as it is. TTL is then for a key that
	// the write makes.
	Keep bool
	// If is the condition.
	If Condition
}

// Condition says when a write happens.
type Condition uint8

// The conditions.
const (
	// Always writes.
	Always Condition = iota
	// IfAbsent writes where there is nothing yet (NX).
	IfAbsent
	// IfPresent writes where there is something (XX).
	IfPresent
)

// Holds reports whether the condition holds for what exists or not.
func (c Condition) Holds(exists bool) bool {
	return c == Always || (c == IfPresent) == exists
}

// End is an end of a list.
type End uint8

// The ends.
const (
	Head End = iota
	Tail
)

// Field is a field of a hash.
type Field struct {
	Name  string
	Value []byte
}

// Item is one of the writes of a batch.
type Item struct {
	Key   string
	Value []byte
	Write Write
}

// Bytes is the Object that is its own encoding.
type Bytes []byte

// Encode implements Object.
func (b Bytes) Encode() ([]byte, error) { return b, nil }
