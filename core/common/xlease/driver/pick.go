package driver

import "time"

// Pick chooses the slot that a backend grants for r. at returns the stored state of a
// slot: the remaining time of its record and its mark. The remaining time of a free slot
// is not positive. If no slot is free, ok is false and wait is the time until the first
// record expires.
func Pick(
	r Request, at func(slot int) (left time.Duration, mark int64),
) (slot int, wait time.Duration, ok bool) {
	var smallest int64
	for i := range r.Count {
		candidate := r.First + (r.Begin-r.First+i)%r.Count
		left, mark := at(candidate)
		switch {
		case left > 0:
			if wait == 0 || left < wait {
				wait = left
			}
		case !ok || mark < smallest:
			slot, smallest, ok = candidate, mark, true
		}
		if ok && smallest <= r.Past {
			break
		}
	}
	return slot, wait, ok
}
