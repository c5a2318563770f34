// Package xsnowflake makes 64-bit ids that sort by time and are never equal.
//
// An id holds the millisecond of its making, the kind of thing it names (its Gene), the
// node that made it and a sequence number. A Node makes ids; what keeps two nodes from
// using the same number is either the environment or a Lease. Where the bits are is data:
// see Layout.
package xsnowflake

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// SnowflakeID is an id. The zero value names nothing; an id that a Node made is positive.
//
// JSON and text hold it as a decimal string, because a number above 2^53 does not survive
// JavaScript. The methods that take an id apart read LayoutDefault; use Layout.Parse for
// the ids of other layouts.
type SnowflakeID int64 //nolint:recvcheck // only what decodes needs a pointer

// ErrInvalidID is what every text, number or byte string that holds no id is an instance
// of.
var ErrInvalidID = errors.New("xsnowflake: not an id")

// ParseSnowflakeID reads a decimal id: digits only, no sign, no blank, no leading zero,
// at most 2^63-1. The error is an ErrInvalidID and does not repeat the text.
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

// Int64 returns the id as a number.
func (id SnowflakeID) Int64() int64 { return int64(id) }

// IsZero reports whether the id is 0, which names nothing.
func (id SnowflakeID) IsZero() bool { return id == 0 }

// Time returns the millisecond at which the id was made, in UTC.
func (id SnowflakeID) Time() time.Time { return layoutDefault.Parse(id).Time }

// Gene returns the kind of thing that the id names.
func (id SnowflakeID) Gene() Gene { return layoutDefault.Parse(id).Gene }

// DatacenterID returns the number of the datacenter that made the id.
func (id SnowflakeID) DatacenterID() int { return layoutDefault.Parse(id).DatacenterID }

// NodeID returns the number, within its datacenter, of the node that made the id.
func (id SnowflakeID) NodeID() int { return layoutDefault.Parse(id).NodeID }

// Sequence returns the position of the id among those of its gene, node and millisecond.
func (id SnowflakeID) Sequence() int { return layoutDefault.Parse(id).Sequence }
