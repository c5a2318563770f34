// Package wheel finds keys whose deadline has passed, in small steps however many keys there are.
//
// It is a hierarchical timing wheel (Varghese and Lauck, 1987) of eight levels with 64 slots each. A slot
// of the lowest level is about a millisecond wide, one of the next level 64 times that, and so on, so that
// the levels together hold any deadline. A key whose slot has begun goes down to a lower level. Adding and
// removing a key take the same time at any number of keys.
package wheel

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
)

const (
	tickBits = 20 // a slot of the lowest level is 2^20 ns wide
	slotBits = 6
	slots    = 1 << slotBits
	levels   = (64 - tickBits + slotBits - 1) / slotBits
)

// Never is a time that no deadline reaches.
const Never = math.MaxInt64

// Wheel holds keys with their deadlines. It is safe for concurrent use, and holds its lock for some
// microseconds at most, but where the clock goes back.
type Wheel struct {
	now  func() int64
	next atomic.Int64
	mu   sync.Mutex
	// tick is the time that the slots are seen from. A record is at the level of the highest digit in
	// which the tick of its deadline differs from it, in the slot of that digit. So all slots in use lie
	// ahead, and those of a lower level before those of a higher one.
	tick     uint64
	occupied [levels]uint64
	heads    [levels][slots]ID
	// nearest is the earliest deadline in the slot of tick itself.
	nearest int64
	// open is the rest of a slot that has begun and is being emptied.
	open    ID
	records slab
}

// New returns an empty wheel. Its clock, in nanoseconds since any time, is read under the wheel's lock.
func New(now func() int64) *Wheel {
	w := &Wheel{now: now}
	w.next.Store(Never)
	return w
}

// Next returns a time before which Due has nothing to do. It takes no lock.
func (w *Wheel) Next() int64 { return w.next.Load() }

// tickOf keeps the order of the times, also of negative ones.
func tickOf(nanos int64) uint64 { return (uint64(nanos) ^ 1<<63) >> tickBits } // the bits are meant

func startOf(tick uint64) int64 { return int64(tick<<tickBits ^ 1<<63) } // the bits are meant

// Add puts the key in. The id is for Remove. Before the time at Due has nothing to do for the key.
func (w *Wheel) Add(key string, deadline int64) (id ID, at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.records.live == 0 {
		w.tick, w.nearest = tickOf(w.now()), Never
	}
	id, r := w.records.take()
	r.key, r.deadline = key, deadline
	at = w.place(id, r)
	w.next.Store(min(w.next.Load(), at))
	return id, at
}

// Move gives the key another deadline. Before the time at Due has nothing to do for the key.
func (w *Wheel) Move(id ID, deadline int64) (at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unlink(id)
	r := w.records.at(id)
	r.deadline = deadline
	at = w.place(id, r)
	w.next.Store(min(w.next.Load(), at))
	return at
}

// Remove takes out what Add put in. It must be called once.
func (w *Wheel) Remove(id ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unlink(id)
	w.records.free(id)
}

// Due fills keys with some whose deadline has come, and returns how many. A call looks at a bounded number
// of keys; there may be more to find until Next is later than now. A key that is found stays in, and is not
// found again until it is moved: the caller moves or removes it.
func (w *Wheel) Due(keys []string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if tickOf(now) < w.tick {
		w.rewind(tickOf(now))
	}
	n := 0
	for range looks {
		if w.open == 0 {
			if next := w.begin(now); next > now {
				w.next.Store(next)
				return n
			}
		}
		if n == len(keys) {
			break
		}
		id := w.open
		r := w.records.at(id)
		if w.open = r.next; w.open != 0 {
			w.records.at(w.open).prev = 0
		}
		if r.deadline <= now {
			keys[n] = r.key
			n++
			r.deadline = Never
		}
		w.place(id, r)
	}
	w.next.Store(math.MinInt64) // not now, before which the clock may be set back
	return n
}

// looks is how many keys Due looks at in one call.
const looks = 64

// Len returns the number of keys.
func (w *Wheel) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.records.live
}

// begin opens the first slot that has begun by now, and returns the time at which one begins.
func (w *Wheel) begin(now int64) int64 {
	own := int(w.tick % slots)
	if w.heads[0][own] != 0 {
		if w.nearest <= now {
			w.nearest = Never
			w.empty(0, own)
			return now
		}
		return w.nearest
	}
	for level := range levels {
		if w.occupied[level] == 0 {
			continue
		}
		slot := bits.TrailingZeros64(w.occupied[level])
		shift := level * slotBits
		tick := (w.tick>>(shift+slotBits)<<slotBits | uint64(slot)) << shift // a slot is below 64
		if startOf(tick) > now {
			return startOf(tick)
		}
		w.tick, w.nearest = tick, Never
		w.empty(level, slot)
		return now
	}
	return Never
}

// empty makes the slot's records those that are open.
func (w *Wheel) empty(level, slot int) {
	w.open = w.heads[level][slot]
	w.heads[level][slot] = 0
	w.occupied[level] &^= 1 << slot
}

// rewind sees the slots from an earlier time: the clock was set back. It looks at all keys at once.
func (w *Wheel) rewind(tick uint64) {
	all := w.open
	w.open = 0
	for level := range levels {
		for slot, id := range w.heads[level] {
			for id != 0 {
				r := w.records.at(id)
				next := r.next
				r.next = all
				all, id = id, next
			}
			w.heads[level][slot] = 0
		}
		w.occupied[level] = 0
	}
	w.tick, w.nearest = tick, Never
	for all != 0 {
		id, r := all, w.records.at(all)
		all = r.next
		w.place(id, r)
	}
}

// slotOf returns where a deadline belongs. What should have ended before the slots begin is in the first.
func (w *Wheel) slotOf(deadline int64) (level, slot int) {
	tick := max(tickOf(deadline), w.tick)
	if differ := bits.Len64(tick ^ w.tick); differ > 0 {
		level = (differ - 1) / slotBits
	}
	return level, int(tick >> (level * slotBits) % slots)
}

// place links a record that is in no slot, and returns when its slot begins.
func (w *Wheel) place(id ID, r *record) int64 {
	level, slot := w.slotOf(r.deadline)
	head := w.heads[level][slot]
	r.prev, r.next = 0, head
	if head != 0 {
		w.records.at(head).prev = id
	}
	w.heads[level][slot] = id
	w.occupied[level] |= 1 << slot
	if level == 0 && slot == int(w.tick%slots) {
		w.nearest = min(w.nearest, r.deadline)
		return r.deadline
	}
	return startOf(tickOf(r.deadline) >> (level * slotBits) << (level * slotBits))
}

// unlink takes a record out of its slot.
func (w *Wheel) unlink(id ID) {
	r := w.records.at(id)
	if r.next != 0 {
		w.records.at(r.next).prev = r.prev
	}
	switch {
	case r.prev != 0:
		w.records.at(r.prev).next = r.next
	case w.open == id:
		w.open = r.next
	default:
		level, slot := w.slotOf(r.deadline)
		if w.heads[level][slot] = r.next; r.next == 0 {
			w.occupied[level] &^= 1 << slot
		}
	}
}
