// Package xsnowflake generates unique 64-bit ids that sort by time.
//
// An id contains its time in milliseconds, the kind of its entity (its Gene), the node
// that generated it and a sequence number. A Node generates ids. Its node ID must be
// unique: either the environment sets it, or a lease reserves it. Layout defines the
// bits.
package xsnowflake

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// SnowflakeID is an id. The zero value identifies nothing. The ids of a Node are
// positive.
//
// JSON and text contain the id as a decimal string, because JavaScript rounds numbers
// above 2^53. The methods for the parts of an id use LayoutDefault; use Layout.Parse for
// other layouts.
type SnowflakeID int64 //nolint:recvcheck // only decoding requires a pointer

// ErrInvalidID is the error for text, numbers and bytes that are not an id.
var ErrInvalidID = errors.New("xsnowflake: not an id")

// ParseSnowflakeID parses a decimal id: digits only, without sign, space or leading zero,
// at most 2^63-1. The error is ErrInvalidID and does not contain the text.
func ParseSnowflakeID(text string) (SnowflakeID, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || text[0] == '0' && len(text) > 1 {
		return 0, fmt.Errorf("%w (accepted: digits without a leading zero, up to 2^63-1)",
			ErrInvalidID)
	}
	return SnowflakeID(n), nil
}

// String returns the id in decimal.
func (id SnowflakeID) String() string { return strconv.FormatInt(int64(id), 10) }

// Int64 returns the id as an integer.
func (id SnowflakeID) Int64() int64 { return int64(id) }

// IsZero reports whether the id is 0, which identifies nothing.
func (id SnowflakeID) IsZero() bool { return id == 0 }

// Time returns the time of the id in UTC, with millisecond precision.
func (id SnowflakeID) Time() time.Time { return layoutDefault.Parse(id).Time }

// Gene returns the kind of the entity.
func (id SnowflakeID) Gene() Gene { return layoutDefault.Parse(id).Gene }

// DatacenterID returns the ID of the datacenter that generated the id.
func (id SnowflakeID) DatacenterID() int { return layoutDefault.Parse(id).DatacenterID }

// NodeID returns the ID, within its datacenter, of the node that generated the id.
func (id SnowflakeID) NodeID() int { return layoutDefault.Parse(id).NodeID }

// Sequence returns the position of the id among the ids of its gene, node and
// millisecond.
func (id SnowflakeID) Sequence() int { return layoutDefault.Parse(id).Sequence }
