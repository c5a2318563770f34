package runner

import (
	"encoding/binary"
	"time"
)

const (
	prefixBytes = 5 // before each message: a flag and the length

	// smallFrame is the largest frame that grpc-go does not store in a buffer of its pool,
	// whose buffers have 4 KB or 16 KB. frameCost is about what each frame costs besides.
	smallFrame = 1 << 10
	pageFrame  = 4 << 10
	largeFrame = 16 << 10
	frameCost  = 64

	// callCost is about what a call costs besides: goroutines and contexts.
	callCost = 16 << 10
)

// overhead is what grpc-go stores for a frame besides its bytes. Without it a client could
// multiply the bytes by the size of its frames.
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
	id     uint32 // of the stream, 0 if it is unknown
	prefix [prefixBytes]byte
	filled int   // bytes of prefix
	left   int64 // bytes after the prefix that have not arrived
	stored int64 // what the unfinished message costs; 0 between two messages
}

// add counts bytes of a frame. cost is the frame's overhead, which the message pays that has
// the frame's first bytes.
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

// follow notes the stream of a call. A tap runs when grpc-go has read the call's header, and
// frames.read lets it read no further before. mu is locked.
func (s *source) follow(c *incoming) {
	if !s.visible || s.gone || s.header.last {
		return
	}
	if len(s.streams) >= s.prune {
		s.forgetDone()
		s.prune = 2*len(s.streams) + 16
	}
	if s.streams == nil {
		s.streams = map[uint32]*incoming{}
	}
	c.id = s.header.id
	s.streams[c.id] = c
}

// forget removes a stream. mu is locked.
func (s *source) forget(id uint32) {
	if c := s.streams[id]; c != nil {
		s.stored -= c.stored
		delete(s.streams, id)
	}
}

// forgetDone removes the streams that the server has closed, and those of handlers that go on
// after their end. mu is locked.
func (s *source) forgetDone() {
	for id, c := range s.streams {
		if c.stream.Err() != nil || c.ended.Load() && time.Since(c.at) > maxRelease {
			s.forget(id)
		}
	}
}

// data counts bytes of a stream's messages. mu is locked.
func (s *source) data(id uint32, b []byte, cost int64) {
	if c := s.streams[id]; c != nil && len(b) > 0 {
		before := c.stored
		c.add(b, cost)
		s.stored += c.stored - before
	}
}

// largest returns the call that has not ended with the largest unfinished message, or nil. mu is locked.
func (s *source) largest() *incoming {
	var most *incoming
	for _, c := range s.streams {
		if c.stored > 0 && !c.ended.Load() && (most == nil || c.stored > most.stored) {
			most = c
		}
	}
	return most
}
