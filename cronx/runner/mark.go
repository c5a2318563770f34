package runner

// mark stores the claimed ticks of a job in the mark of a lease: the latest claimed tick
// in seconds since 1970, and a bitmap of the seconds before it.
//
// The latest tick exclusive is not enough: a replica whose clock is ahead claims a tick
// before the others have reached earlier ones.
type mark int64

const (
	// window is the number of seconds in the bitmap.
	window = 30
	before = 1<<window - 1
)

// take returns the mark after the tick at second is claimed. The outcome is elsewhere if
// the tick was claimed before, and offTime if it is older than the window.
func (m mark) take(second int64) (next mark, o outcome) {
	if m == 0 {
		return mark(second << window), taken
	}
	latest, bits := int64(m)>>window, int64(m)&before
	switch ahead := second - latest; {
	case ahead > window:
		bits = 0
	case ahead > 0:
		bits = (bits<<1 | 1) << (ahead - 1) & before // bit i is i+1 seconds before the latest
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
