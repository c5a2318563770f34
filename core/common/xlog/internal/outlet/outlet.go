// Package outlet writes to an output that may block, without blocking the log for ever.
package outlet

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxWait is how long a caller waits for its line to be written.
	maxWait = time.Second
	// maxQueued is how many bytes a stalled outlet stores before it drops lines.
	maxQueued = 1 << 20
	// maxYields is how often a caller yields before it sleeps: a Write takes
	// microseconds.
	maxYields = 16
	// maxPooled is the longest line whose memory is used again.
	maxPooled = 1 << 16
)

// Outlet writes lines to an output that may block, such as a pipe that is not read or a
// terminal that is stopped.
//
// A goroutine writes the lines in order. A caller waits until its line is written, so
// that no line is lost if the process exits, but not longer than maxWait: then the outlet
// is stalled. Until the queue is empty, callers of a stalled outlet do not wait, and
// lines beyond maxQueued are dropped and counted. The count is written when the queue is
// empty.
type Outlet struct {
	out   io.Writer
	lost  func(lines int64) []byte // returns the line that reports dropped lines
	drain func()                   // o.writeQueue; a method value would allocate

	mu         sync.Mutex
	head, tail *queuedLine
	queued     int  // bytes
	writing    bool // writeQueue runs
	stalled    bool
	dropped    int64
}

// New returns an outlet for out; lost returns the line that reports dropped lines.
func New(out io.Writer, lost func(lines int64) []byte) *Outlet {
	o := &Outlet{out: out, lost: lost}
	o.drain = o.writeQueue
	return o
}

// queuedLine is a line and the caller that waits for it.
type queuedLine struct {
	text  []byte
	next  *queuedLine
	state atomic.Int32
	// gate is locked while the caller waits. It is no channel because all goroutines
	// share the default engine, and a test in a synctest bubble must neither idle here
	// nor own it.
	gate sync.Mutex
}

// The states of a queuedLine.
const (
	lineWaiting int32 = iota
	lineWritten
	lineAbandoned // the caller does not wait any longer
)

var queuedLines = sync.Pool{New: func() any { return new(queuedLine) }}

// Write writes one line, or queues it. It does not fail.
func (o *Outlet) Write(p []byte) (int, error) {
	q := queuedLines.Get().(*queuedLine)
	q.text, q.next = append(q.text[:0], p...), nil
	q.state.Store(lineWaiting)
	q.gate.Lock()
	if o.enqueue(q, false) && o.await(q) && cap(q.text) <= maxPooled {
		queuedLines.Put(q)
	}
	return len(p), nil
}

// Flush waits for the lines that a stalled outlet has queued, for maxWait at most.
func (o *Outlet) Flush() {
	q := &queuedLine{}
	q.gate.Lock()
	o.enqueue(q, true)
	o.await(q)
}

// enqueue reports whether the caller is to wait.
func (o *Outlet) enqueue(q *queuedLine, always bool) (wait bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stalled && !always && o.queued+len(q.text) > maxQueued {
		o.dropped++
		return false
	}
	if o.head == nil {
		o.head = q
	} else {
		o.tail.next = q
	}
	o.tail = q
	o.queued += len(q.text)
	if !o.writing {
		o.writing = true
		go o.drain()
	}
	return always || !o.stalled
}

// await waits for the line, for maxWait at most, and reports whether q may be used again.
func (o *Outlet) await(q *queuedLine) bool {
	for range maxYields {
		if q.state.Load() == lineWritten {
			return true
		}
		runtime.Gosched()
	}
	timer := time.AfterFunc(maxWait, func() { q.settle(lineAbandoned) })
	q.gate.Lock()           // waits for settle
	stopped := timer.Stop() // else its function may still run
	q.gate.Unlock()
	if q.state.Load() == lineWritten {
		return stopped
	}
	o.mu.Lock()
	o.stalled = o.writing
	o.mu.Unlock()
	return false
}

// settle ends the wait of the caller.
func (q *queuedLine) settle(state int32) {
	if q.state.CompareAndSwap(lineWaiting, state) {
		q.gate.Unlock()
	}
}

// writeQueue writes until the queue is empty.
func (o *Outlet) writeQueue() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		q := o.next()
		if q == nil {
			break
		}
		o.mu.Unlock()
		if len(q.text) > 0 {
			_, _ = o.out.Write(q.text) // an error has no other place to be reported
		}
		q.settle(lineWritten)
		o.mu.Lock()
	}
	o.writing, o.stalled = false, false
}

// next removes the first line from the queue. After the last one it is the line that
// reports dropped lines, or nil.
func (o *Outlet) next() *queuedLine {
	if q := o.head; q != nil {
		o.head = q.next
		o.queued -= len(q.text)
		return q
	}
	if o.dropped == 0 {
		return nil
	}
	q := &queuedLine{text: o.lost(o.dropped)}
	q.state.Store(lineAbandoned)
	o.dropped = 0
	return q
}
