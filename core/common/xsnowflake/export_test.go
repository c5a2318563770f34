package xsnowflake

import "time"

// StepWall moves the wall clock by d without the monotonic clock, like a suspended
// machine. It moves the epoch in the other direction, which is equivalent.
func (n *Node) StepWall(d time.Duration) {
	n.clock.mu.Lock()
	defer n.clock.mu.Unlock()
	n.clock.epoch = n.clock.epoch.Add(-d)
}

// TimeOf returns the time of an id, regardless of StepWall.
func (n *Node) TimeOf(id SnowflakeID) time.Time { return n.layout.Parse(id).Time }

// CatchUp is how far ids may be behind the clock.
const CatchUp = catchUp * time.Millisecond

// RecordAhead is how far the marks of local leases may be ahead.
const RecordAhead = recordAhead

// Nodes returns the number of nodes of a layout in all datacenters.
func Nodes(l Layout) int { return l.Datacenters() * l.Nodes() }

// End returns the first time without an id.
func End(l Layout) time.Time { return time.UnixMilli(l.Epoch + l.end()).UTC() }

// Unexported errors.
var (
	ErrExhausted = errExhausted
	ErrGene      = errGene
)

// MaxBackward is how far the clock may go back.
const MaxBackward = maxBackward

// WithMaxBackward sets how far the clock may go back.
func WithMaxBackward(d time.Duration) Option { return func(c *config) { c.maxBackward = d } }
