package runner

import "encoding/binary"

const (
	prefixBytes = 5 // before each message: a flag and the length

	// smallFrame is the largest frame that grpc-go does not store in a buffer of its
	// pool, whose buffers have 4 KB or 16 KB. frameCost is about what each frame costs
	// besides.
	smallFrame = 1 << 10
	pageFrame  = 4 << 10
	largeFrame = 16 << 10
	frameCost  = 64

	// callCost is about what a call costs besides: goroutines and contexts.
	callCost = 16 << 10
)

// overhead is what grpc-go stores for a frame besides its bytes. Without it a client
// could multiply the bytes by the size of its frames.
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

// message is the progress of the messages that a call sends.
type message struct {
	prefix [prefixBytes]byte
	filled int   // bytes of prefix
	left   int64 // bytes after the prefix that have not arrived
	stored int64 // what the unfinished message costs; 0 between two messages
}

// add counts bytes of a frame. cost is the frame's overhead, which the message pays that
// has the frame's first bytes.
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
				m.left = int64(binary.BigEndian.Uint32(m.prefix[1:]))
			}
		} else {
			n = int(min(int64(len(b)), m.left))
			m.left -= int64(n)
		}
		m.stored += int64(n)
		b = b[n:]
		if m.filled == prefixBytes && m.left == 0 {
			m.filled, m.stored, cost = 0, 0, 0
		}
	}
}
