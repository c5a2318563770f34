package runner

import (
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// maxRelease bounds how long an ended call is charged, and its connection waits, until the call
// has released its message.
const maxRelease = 200 * time.Millisecond

// source is a connection with its calls.
type source struct {
	*intake
	addrs   []net.Addr   // keys of intake.byAddr
	charged atomic.Int64 // bytes that are part of used; written with mu locked
	ending  atomic.Int64 // those of them that belong to ended calls; written with mu locked

	mu      sync.Mutex
	visible bool                 // frames follows the connection
	header  header               // the last one that grpc-go may have read
	streams map[uint32]*incoming // that may send, by ID; with ended ones until the next prune
	prune   int                  // how many streams cause it
	stored  int64                // the sum of the streams' unfinished messages

	// The calls whose first message has not arrived.
	read  int64
	calls []*incoming // oldest first
	timer *time.Timer // of the oldest call's end; nil until the first call
	armed bool
	gone  bool
}

// incoming is the context of a call from its header on.
type incoming struct {
	context.Context
	stream context.Context // ends with the call
	cancel context.CancelFunc
	source *source
	start  int64 // what the connection had read
	began  time.Time
	ended  atomic.Bool // because its message did not arrive
	at     time.Time   // of that
	message
}

type incomingKey struct{}

// Value implements context.Context.
func (c *incoming) Value(key any) any {
	if key == (incomingKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// Err implements context.Context. grpc-go makes the call's status of it.
func (c *incoming) Err() error {
	if c.ended.Load() {
		return context.DeadlineExceeded
	}
	return c.Context.Err()
}

// arrived removes a call from the intake.
func arrived(ctx context.Context) {
	if c, ok := ctx.Value(incomingKey{}).(*incoming); ok {
		c.source.remove(c)
	}
}

func (s *source) add(c *incoming) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follow(c)
	if len(s.calls) == cap(s.calls) { // calls that their client has canceled are still here
		s.calls = slices.DeleteFunc(s.calls, func(c *incoming) bool { return c.Err() != nil })
	}
	c.start = s.read
	s.calls = append(s.calls, c)
	if s.timeout == 0 || s.armed || s.gone {
		return
	}
	s.armed = true
	if s.timer == nil {
		s.timer = time.AfterFunc(s.timeout, s.expire)
	} else {
		s.timer.Reset(s.timeout)
	}
}

func (s *source) remove(c *incoming) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.calls, c); i >= 0 {
		s.calls = slices.Delete(s.calls, i, i+1)
		s.charge()
	}
}

// received counts bytes of the connection.
func (s *source) received(n int) {
	s.mu.Lock()
	s.read += int64(n)
	s.charge()
	s.mu.Unlock()
	if s.maxBytes > 0 && s.used.Load() > s.maxBytes && s.charged.Load() > 0 {
		await(s.relieve())
	}
}

// await waits until ended calls have released their messages. Without it a client could send
// faster than its calls end.
func await(ending []*incoming) {
	timeout := time.NewTimer(maxRelease)
	defer timeout.Stop()
	for _, c := range ending {
		select {
		case <-c.stream.Done():
		case <-timeout.C:
			return
		}
	}
}

// charge computes what the connection is charged with. mu is locked.
func (s *source) charge() {
	bytes := s.stored
	if !s.visible {
		bytes = s.estimate()
	}
	s.used.Add(bytes - s.charged.Swap(bytes))
}

// estimate is the charge of a connection without visible frames. mu is locked.
func (s *source) estimate() int64 {
	for len(s.calls) > 0 && s.calls[0].Err() != nil {
		s.calls = slices.Delete(s.calls, 0, 1)
	}
	if len(s.calls) == 0 {
		return 0
	}
	return min(s.read-s.calls[0].start, int64(len(s.calls))*s.maxMessage)
}

// rest is the charge without ended calls.
func (s *source) rest() int64 { return s.charged.Load() - s.ending.Load() }

// refresh removes what calls that have released their messages contribute to the charge. It
// returns the ended calls that have not.
func (s *source) refresh() (ending []*incoming) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetDone()
	s.charge()
	var bytes int64
	for _, c := range s.streams {
		if c.ended.Load() {
			ending = append(ending, c)
			bytes += c.stored
		}
	}
	s.ending.Store(bytes)
	return ending
}

// endOne ends the call with the largest unfinished message, or the oldest one if the frames
// are not visible. It returns nil if there is none.
func (s *source) endOne() *incoming {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.largest()
	if !s.visible && len(s.calls) > 0 {
		c = s.calls[0]
	}
	if c == nil {
		return nil
	}
	c.end()
	s.ending.Add(c.stored)
	s.charge()
	return c
}

// expire ends the calls whose time is over.
func (s *source) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, c := range s.calls {
		if c.Err() != nil {
			continue // its client has canceled it
		}
		if left := s.timeout - now.Sub(c.began); left > 0 {
			s.charge()
			s.timer.Reset(left)
			return
		}
		c.end()
	}
	s.charge()
	s.armed = false
}

// close ends the charge of a closed connection, whose calls grpc-go ends.
func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	s.calls, s.streams, s.stored = nil, nil, 0
	s.ending.Store(0)
	s.charge()
	if s.timer != nil {
		s.timer.Stop()
	}
}

func (c *incoming) end() {
	c.at = time.Now()
	c.ended.Store(true)
	c.cancel()
}
