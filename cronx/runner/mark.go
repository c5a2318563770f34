package runner

// mark is what the replicas know of the ticks of a job, in one number that leases keep:
// the latest tick that was taken, in seconds since 1970, and which seconds before it were
// ticks that were taken.
//
// The latest tick alone would not do. A replica whose clock is ahead takes a tick before
// the others have come to those before it; and with it alone, these would count as taken.
type mark int64

const (
	// window is how many seconds before the latest tick are known.
	window = 30
	before = 1<<window - 1
)

// take returns the mark after the tick at a second is taken. It is elsewhere where
// somebody has it, and offTime where it lies before what is known.
func (m mark) take(second int64) (next mark, o outcome) {
	if m == 0 {
		return mark(second << window), taken
	}
	latest, bits := int64(m)>>window, int64(m)&before
	switch ahead := second - latest; {
	case ahead > window:
		bits = 0
	case ahead > 0:
		bits = (bits<<1 | 1) << (ahead - 1) & before // bit i is the second i+1 before the latest
	case ahead == 0:
		return m, elsewhere
	case -ahead > window:
		return m, offTime
	default:
		bit := int64(1) << (-ahead - 1)
		if bits&bit != 0 {
			return m, elsewhere
		}
		return m | mark(bit), taken
	}
	return mark(second<<window | bits), taken
}
