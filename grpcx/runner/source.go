package runner

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// maxRelease bounds how long a connection waits until a call that it has ended releases
// its message.
const maxRelease = 200 * time.Millisecond

// source is a connection with the calls whose clients may send.
type source struct {
	*intake
	charged  atomic.Int64 // bytes that are part of used; written with mu locked
	followed atomic.Bool  // frames follows the connection

	mu sync.Mutex
	// the last one that grpc-go may have read; else its id counts the calls
	header  header
	read    int64                // bytes that were read, if nothing follows their frames
	streams map[uint32]*incoming // by ID; with ended ones until the next prune
	prune   int                  // how many streams cause it
	stored  int64                // the sum of the streams' unfinished messages
	// of the next look at calls whose first message has not arrived; nil until the first
	// call
	timer  *time.Timer
	armed  bool
	closed bool
}

func newSource(in *intake) *source { return &source{intake: in, streams: map[uint32]*incoming{}} }

// incoming is the context of a call from its header on.
type incoming struct {
	context.Context
	stream context.Context // ends with the call
	cancel context.CancelFunc
	began  time.Time
	start  int64       // what the source had read
	here   atomic.Bool // its first message has arrived
	ended  atomic.Bool // because its message did not arrive
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

func (c *incoming) end() {
	c.ended.Store(true)
	c.cancel()
}

// waits reports whether the first message of a call may still arrive.
func (c *incoming) waits() bool { return !c.here.Load() && c.Err() == nil }

// arrived notes that the first message of a call has arrived.
func arrived(ctx context.Context) {
	if c, ok := ctx.Value(incomingKey{}).(*incoming); ok {
		c.here.Store(true)
	}
}

// add notes the stream of a call. A tap runs when grpc-go has read the call's header, and
// frames.read lets it read no further before.
func (s *source) add(ctx context.Context) *incoming {
	c := &incoming{stream: ctx, began: time.Now()}
	c.Context, c.cancel = context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return c
	}
	if s.timeout > 0 && !s.armed {
		s.arm(s.timeout)
	}
	if len(s.streams) >= s.prune {
		s.forgetDone()
		s.prune = 2*len(s.streams) + 16
	}
	if !s.followed.Load() {
		s.header.id++
		c.start = s.read
	}
	s.streams[s.header.id] = c
	return c
}

// arm has the calls looked at after a time. mu is locked.
func (s *source) arm(after time.Duration) {
	s.armed = true
	if s.timer == nil {
		s.timer = time.AfterFunc(after, s.expire)
	} else {
		s.timer.Reset(after)
	}
}

// expire ends the calls whose first message has not arrived in time.
func (s *source) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = false
	next, now := s.timeout, time.Now()
	for _, c := range s.streams {
		if !c.waits() {
			continue
		}
		if left := s.timeout - now.Sub(c.began); left > 0 {
			next, s.armed = min(next, left), true
		} else {
			c.end()
		}
	}
	if s.armed {
		s.arm(next)
	}
}

// forget removes a stream. mu is locked.
func (s *source) forget(id uint32) {
	if c := s.streams[id]; c != nil {
		s.stored -= c.stored
		delete(s.streams, id)
	}
}

// forgetDone removes the streams that the server has closed. mu is locked.
func (s *source) forgetDone() {
	for id, c := range s.streams {
		if c.stream.Err() != nil {
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

// received counts bytes of a connection whose frames cannot be followed.
func (s *source) received(n int) {
	if s.followed.Load() {
		return
	}
	s.mu.Lock()
	s.read += int64(n)
	s.charge()
	s.mu.Unlock()
	s.relieved()
}

// charge computes what the connection is charged with. mu is locked.
func (s *source) charge() {
	bytes := s.stored
	if !s.followed.Load() {
		bytes = s.estimate()
	}
	s.used.Add(bytes - s.charged.Swap(bytes))
}

// estimate is the charge of a connection whose frames cannot be followed. mu is locked.
func (s *source) estimate() int64 {
	start, most := s.read, int64(0)
	for _, c := range s.streams {
		if c.waits() {
			start, most = min(start, c.start), most+maxMessageBytes
		}
	}
	return min(s.read-start, most)
}

// relieved ends calls if this connection has unfinished messages and those of all exceed
// the limit.
func (s *source) relieved() {
	if s.maxBytes > 0 && s.used.Load() > s.maxBytes && s.charged.Load() > 0 {
		s.relieve()
	}
}

// refresh forgets the calls that the server has closed.
func (s *source) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetDone()
	s.charge()
}

// endLargest ends the call with the largest unfinished message, or the oldest one if the
// frames cannot be followed. It returns nil if there is none.
func (s *source) endLargest() *incoming {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.charge()
	var most uint32
	for id, c := range s.streams {
		worse := c.waits() && (most == 0 || id < most)
		if s.followed.Load() {
			worse = c.stored > 0 && (most == 0 || c.stored > s.streams[most].stored)
		}
		if worse {
			most = id
		}
	}
	c := s.streams[most]
	if c != nil {
		s.forget(most)
		c.end()
	}
	return c
}

// await waits until ended calls have released their messages.
func await(ended []*incoming) {
	timeout := time.NewTimer(maxRelease)
	defer timeout.Stop()
	for _, c := range ended {
		select {
		case <-c.stream.Done():
		case <-timeout.C:
			return
		}
	}
}

// close ends the charge of a closed connection, whose calls grpc-go ends.
func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
	for id := range s.streams {
		s.forget(id)
	}
	s.charge()
}
