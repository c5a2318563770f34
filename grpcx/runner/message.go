package runner

import "encoding/binary"

const (
	prefixBytes = 5 // flag and length

	// smallFrame is the largest frame that grpc-go stores without a pooled buffer. Pooled
	// buffers have 4 KB or 16 KB. frameCost is the approximate overhead of a frame.
	smallFrame = 1 << 10
	pageFrame  = 4 << 10
	largeFrame = 16 << 10
	frameCost  = 64

	// callCost is the approximate overhead of a call: goroutines and contexts.
	callCost = 16 << 10
)

// overhead returns the memory that grpc-go needs for a frame in addition to its bytes.
// Without it, small frames would exceed the limit many times over.
func overhead(frame int) int64 {
	switch {
	case frame <= smallFrame:
		return frameCost
	case frame <= pageFrame:
		return frameCost + int64(pageFrame-frame)
	default:
		return frameCost + int64(max(0, largeFrame-frame))
	}
}

// message is the progress of the messages of a call.
type message struct {
	prefix    [prefixBytes]byte
	filled    int   // valid bytes of prefix
	remaining int64 // unread bytes after the prefix
	stored    int64 // cost of the incomplete message; 0 between messages
}

// add counts the bytes of a frame. cost is the overhead of the frame, charged to its
// first message.
func (m *message) add(b []byte, cost int64) {
	if m.stored > 0 {
		m.stored += cost
	}
	for len(b) > 0 {
		if m.stored == 0 {
			m.stored = callCost + cost
		}
		var n int
		if m.filled < prefixBytes {
			n = copy(m.prefix[m.filled:], b)
			m.filled += n
			if m.filled == prefixBytes {
				m.remaining = int64(binary.BigEndian.Uint32(m.prefix[1:]))
			}
		} else {
			n = int(min(int64(len(b)), m.remaining))
			m.remaining -= int64(n)
		}
		m.stored += int64(n)
		b = b[n:]
		if m.filled == prefixBytes && m.remaining == 0 {
			m.filled, m.stored, cost = 0, 0, 0
		}
	}
}
