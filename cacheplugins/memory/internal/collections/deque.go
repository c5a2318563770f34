package collections

import (
	"slices"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// deque is a double-ended queue. Its items are array[head:].
type deque struct {
	array [][]byte
	head  int
}

// Len implements Collection.
func (d *deque) Len() int { return len(d.array) - d.head }

func (d *deque) items() [][]byte { return d.array[d.head:] }

// push adds the values one after another.
func (d *deque) push(end driver.End, values [][]byte) {
	if end == driver.Tail {
		if len(d.array)+len(values) > cap(d.array) && d.head > d.Len() {
			d.move(0) // reuse the space of popped items
		}
		d.array = append(d.array, values...)
		return
	}
	if d.head < len(values) {
		d.move(d.Len() + len(values))
	}
	for _, v := range values {
		d.head--
		d.array[d.head] = v
	}
}

// move copies the items to an array with head free places before them.
func (d *deque) move(head int) {
	array := make([][]byte, head+d.Len(), head+2*d.Len())
	copy(array[head:], d.items())
	d.array, d.head = array, head
}

// pop removes and returns an item. The deque must not be empty.
func (d *deque) pop(end driver.End) []byte {
	if end == driver.Head {
		value := d.array[d.head]
		d.array[d.head] = nil
		d.head++
		return value
	}
	last := len(d.array) - 1
	value := d.array[last]
	d.array[last] = nil
	d.array = d.array[:last]
	return value
}

// remove removes the first count matching items, the last -count, or all if count is 0.
func (d *deque) remove(count int, match func([]byte) bool) (removed int) {
	items := d.items()
	matches := func(item []byte) bool {
		if (count != 0 && removed == max(count, -count)) || !match(item) {
			return false
		}
		removed++
		return true
	}
	if count < 0 {
		slices.Reverse(items)
	}
	items = slices.DeleteFunc(items, matches)
	if count < 0 {
		slices.Reverse(items)
	}
	d.array = d.array[:d.head+len(items)]
	return removed
}
