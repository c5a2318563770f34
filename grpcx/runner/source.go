package runner

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// maxRelease limits how long a connection waits for canceled calls to release their
// messages.
const maxRelease = 200 * time.Millisecond

// source is a connection with the calls whose clients may still send.
type source struct {
	*limiter
	charged atomic.Int64 // part of used; written with mu locked
	parsed  atomic.Bool  // frames are parsed

	mu sync.Mutex
	// the last header that grpc-go may have read; without frames, its id counts the calls
	header  header
	read    int64                // bytes read, if frames are not parsed
	streams map[uint32]*incoming // by ID; includes canceled ones until pruned
	prune   int                  // number of streams that triggers pruning
	stored  int64                // sum of the incomplete messages
	// checks the calls whose first message has not arrived; nil until the first call
	timer  *time.Timer
	armed  bool
	closed bool
}

func newSource(l *limiter) *source {
	return &source{limiter: l, streams: map[uint32]*incoming{}}
}

// incoming is the context of a call from the arrival of its header.
type incoming struct {
	context.Context
	stream         context.Context // canceled when the call finishes
	cancel         context.CancelFunc
	started        time.Time
	start          int64       // bytes that the source had read before the call
	messageArrived atomic.Bool // the first message has arrived
	canceled       atomic.Bool // canceled by the limiter
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

// Err implements context.Context. grpc-go derives the status of the call from it.
func (c *incoming) Err() error {
	if c.canceled.Load() {
		return context.DeadlineExceeded
	}
	return c.Context.Err()
}

func (c *incoming) end() {
	c.canceled.Store(true)
	c.cancel()
}

// waiting reports whether the first message of the call may still arrive.
func (c *incoming) waiting() bool { return !c.messageArrived.Load() && c.Err() == nil }

// arrived marks the first message of a call as arrived.
func arrived(ctx context.Context) {
	if c, ok := ctx.Value(incomingKey{}).(*incoming); ok {
		c.messageArrived.Store(true)
	}
}

// add adds a call. It runs in the tap, after grpc-go has read the header of the call and
// before it reads further; see frames.read.
func (s *source) add(ctx context.Context) *incoming {
	c := &incoming{stream: ctx, started: time.Now()}
	c.Context, c.cancel = context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return c
	}
	if s.timeout > 0 && !s.armed {
		s.startTimer(s.timeout)
	}
	if len(s.streams) >= s.prune {
		s.removeDone()
		s.prune = 2*len(s.streams) + 16
	}
	if !s.parsed.Load() {
		s.header.id++
		c.start = s.read
	}
	s.streams[s.header.id] = c
	return c
}

// startTimer schedules expire. mu is locked.
func (s *source) startTimer(after time.Duration) {
	s.armed = true
	if s.timer == nil {
		s.timer = time.AfterFunc(after, s.expire)
	} else {
		s.timer.Reset(after)
	}
}

// expire cancels the calls whose first message has not arrived within the timeout.
func (s *source) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = false
	next, now := s.timeout, time.Now()
	for _, c := range s.streams {
		if !c.waiting() {
			continue
		}
		if left := s.timeout - now.Sub(c.started); left > 0 {
			next, s.armed = min(next, left), true
		} else {
			c.end()
		}
	}
	if s.armed {
		s.startTimer(next)
	}
}

// remove removes a stream. mu is locked.
func (s *source) remove(id uint32) {
	if c := s.streams[id]; c != nil {
		s.stored -= c.stored
		delete(s.streams, id)
	}
}

// removeDone removes the streams that the server has closed. mu is locked.
func (s *source) removeDone() {
	for id, c := range s.streams {
		if c.stream.Err() != nil {
			s.remove(id)
		}
	}
}

// data counts message bytes of a stream. mu is locked.
func (s *source) data(id uint32, b []byte, cost int64) {
	if c := s.streams[id]; c != nil && len(b) > 0 {
		before := c.stored
		c.add(b, cost)
		s.stored += c.stored - before
	}
}

// received counts bytes of a connection whose frames are not parsed.
func (s *source) received(n int) {
	if s.parsed.Load() {
		return
	}
	s.mu.Lock()
	s.read += int64(n)
	s.charge()
	s.mu.Unlock()
	s.enforceLimit()
}

// charge updates the charge of the connection. mu is locked.
func (s *source) charge() {
	bytes := s.stored
	if !s.parsed.Load() {
		bytes = s.estimate()
	}
	s.used.Add(bytes - s.charged.Swap(bytes))
}

// estimate returns the charge of a connection whose frames are not parsed. mu is locked.
func (s *source) estimate() int64 {
	start, limit := s.read, int64(0)
	for _, c := range s.streams {
		if c.waiting() {
			start, limit = min(start, c.start), limit+maxMessageBytes
		}
	}
	return min(s.read-start, limit)
}

// enforceLimit cancels calls if this connection has incomplete messages and the sum over
// all connections exceeds the limit.
func (s *source) enforceLimit() {
	if s.maxBytes > 0 && s.used.Load() > s.maxBytes && s.charged.Load() > 0 {
		s.cancelExcess()
	}
}

// refresh removes the calls that the server has closed.
func (s *source) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeDone()
	s.charge()
}

// cancelLargest cancels the call with the largest incomplete message, or the oldest
// waiting call if frames are not parsed. It returns nil if no call is found.
func (s *source) cancelLargest() *incoming {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.charge()
	var found uint32
	for id, c := range s.streams {
		better := c.waiting() && (found == 0 || id < found)
		if s.parsed.Load() {
			better = c.stored > 0 && (found == 0 || c.stored > s.streams[found].stored)
		}
		if better {
			found = id
		}
	}
	c := s.streams[found]
	if c != nil {
		s.remove(found)
		c.end()
	}
	return c
}

// await waits until canceled calls have released their messages, at most maxRelease.
func await(canceled []*incoming) {
	timeout := time.NewTimer(maxRelease)
	defer timeout.Stop()
	for _, c := range canceled {
		select {
		case <-c.stream.Done():
		case <-timeout.C:
			return
		}
	}
}

// close removes the charge of a closed connection. grpc-go cancels its calls.
func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
	for id := range s.streams {
		s.remove(id)
	}
	s.charge()
}
