package xsnowflake

import "time"

// StepWall moves the wall clock by d without the monotonic clock, as an administrator or
// a suspended machine does. For the node it is the same to move the epoch the other way.
func (n *Node) StepWall(d time.Duration) {
	n.clock.mu.Lock()
	defer n.clock.mu.Unlock()
	n.clock.epoch = n.clock.epoch.Add(-d)
}

// TimeOf is the time of an id in real time, also after StepWall.
func (n *Node) TimeOf(id SnowflakeID) time.Time { return n.layout.Parse(id).Time }

// CatchUp is how far ids may be behind the clock.
const CatchUp = catchUp * time.Millisecond

// RecordAhead is how far high-water marks are ahead.
const RecordAhead = recordAhead

// Nodes is how many nodes a layout tells apart.
func Nodes(l Layout) int { return l.Datacenters() * l.Nodes() }

// End is the first time without an id.
func End(l Layout) time.Time { return time.UnixMilli(l.Epoch + l.end()).UTC() }

// The errors that have a code, and no name.
var (
	ErrExhausted = errExhausted
	ErrGene      = errGene
)

// MaxBackward is how far the clock may go back.
const MaxBackward = maxBackward

// WithMaxBackward sets how far the clock may go back.
func WithMaxBackward(d time.Duration) Option { return func(c *config) { c.maxBackward = d } }
