// Package outlet writes to an output that may block, and limits how long callers wait.
package outlet

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxWait limits how long a caller waits until its line is written.
	maxWait = time.Second
	// maxQueued is the number of bytes that a stalled outlet queues before it drops
	// lines.
	maxQueued = 1 << 20
	// maxYields is how often a caller yields before it sleeps. A Write usually needs
	// microseconds.
	maxYields = 16
	// maxPooled is the maximum size of a line whose memory is reused.
	maxPooled = 1 << 16
)

// Outlet writes lines to an output that may block, such as a pipe without a reader or a
// stopped terminal.
//
// One goroutine writes the lines in order. A caller waits until its line is written, so
// that no line is lost when the process exits. If the wait exceeds maxWait, the outlet is
// stalled until its queue is empty. While it is stalled, callers do not wait, and the
// outlet drops and counts lines that exceed maxQueued. When the queue is empty, the
// outlet writes the count.
type Outlet struct {
	out    io.Writer
	report func(lines int64) []byte // returns the line that reports dropped lines
	drain  func()                   // o.writeQueue; a new method value would allocate

	mu         sync.Mutex
	head, tail *queuedLine
	queued     int  // bytes
	writing    bool // writeQueue is running
	stalled    bool
	dropped    int64
}

// New returns an outlet for out. dropped returns the line that reports dropped lines.
func New(out io.Writer, dropped func(lines int64) []byte) *Outlet {
	o := &Outlet{out: out, report: dropped}
	o.drain = o.writeQueue
	return o
}

type queuedLine struct {
	text  []byte
	next  *queuedLine
	state atomic.Int32
	// gate is locked while the caller waits. It is not a channel: all goroutines share
	// the default engine, and a channel would tie it to the synctest bubble of one test.
	gate sync.Mutex
}

// States of a queuedLine.
const (
	lineWaiting int32 = iota
	lineWritten
	lineAbandoned // the caller no longer waits
)

var queuedLines = sync.Pool{New: func() any { return new(queuedLine) }}

// Write writes or queues one line. It does not fail.
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

// Flush waits until the queued lines are written, for at most maxWait.
func (o *Outlet) Flush() {
	q := &queuedLine{}
	q.gate.Lock()
	o.enqueue(q, true)
	o.await(q)
}

// enqueue adds q to the queue, unless the outlet is stalled, the queue is full, and
// always is false. It reports whether the caller must wait.
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

// await waits for the line for at most maxWait. It reports whether q may be reused.
func (o *Outlet) await(q *queuedLine) bool {
	for range maxYields {
		if q.state.Load() == lineWritten {
			return true
		}
		runtime.Gosched()
	}
	timer := time.AfterFunc(maxWait, func() { q.settle(lineAbandoned) })
	q.gate.Lock()           // blocks until settle
	stopped := timer.Stop() // otherwise its function may still run
	q.gate.Unlock()
	if q.state.Load() == lineWritten {
		return stopped
	}
	o.mu.Lock()
	o.stalled = o.writing
	o.mu.Unlock()
	return false
}

// settle sets the state of a waiting line and wakes up its caller.
func (q *queuedLine) settle(state int32) {
	if q.state.CompareAndSwap(lineWaiting, state) {
		q.gate.Unlock()
	}
}

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
			_, _ = o.out.Write(q.text) // no other output could report the error
		}
		q.settle(lineWritten)
		o.mu.Lock()
	}
	o.writing, o.stalled = false, false
}

// next removes the first line from the queue. If the queue is empty, it returns the line
// that reports dropped lines, or nil.
func (o *Outlet) next() *queuedLine {
	if q := o.head; q != nil {
		o.head = q.next
		o.queued -= len(q.text)
		return q
	}
	if o.dropped == 0 {
		return nil
	}
	q := &queuedLine{text: o.report(o.dropped)}
	q.state.Store(lineAbandoned)
	o.dropped = 0
	return q
}
