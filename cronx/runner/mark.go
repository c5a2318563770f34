package runner

// mark stores the claimed ticks of a job in the mark of a lease. It contains the latest
// claimed tick in seconds since 1970, and a bitmap of the seconds before it.
//
// The latest tick alone is not enough: a replica whose clock is ahead may claim a tick
// before the others have reached earlier ticks.
type mark int64

const (
	// window is the number of seconds in the bitmap.
	window = 30
	before = 1<<window - 1
)

// claim returns the mark after the tick at second is claimed. The outcome is
// claimedElsewhere if the tick was claimed before, and outOfRange if it is older than the
// window.
func (m mark) claim(second int64) (next mark, o outcome) {
	if m == 0 {
		return mark(second << window), claimed
	}
	latest, bits := int64(m)>>window, int64(m)&before
	switch ahead := second - latest; {
	case ahead > window:
		bits = 0
	case ahead > 0:
		bits = (bits<<1 | 1) << (ahead - 1) & before // bit i is i+1 seconds before the latest
	case ahead == 0:
		return m, claimedElsewhere
	case -ahead > window:
		return m, outOfRange
	default:
		bit := int64(1) << (-ahead - 1)
		if bits&bit != 0 {
			return m, claimedElsewhere
		}
		return m | mark(bit), claimed
	}
	return mark(second<<window | bits), claimed
}
