package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xdb/systable"
)

// mostSkew is how far two clocks may be apart before that is worth a warning.
const mostSkew = time.Second

// mendClock is for a clock that is wrong.
const mendClock = "let NTP set the clocks: timedatectl set-ntp true, or chronyc makestep"

// reading is a server's clock, compared with this machine's.
type reading struct {
	server string
	ahead  time.Duration
	unsure time.Duration // half of the time that the answer took
}

// readClock asks a database on a server for its time.
func (p *patient) readClock(ctx context.Context, db *gorm.DB) {
	clock, err := systable.Clock(db)
	if err != nil || db.Name() == "sqlite" { // a file has the clock of this machine
		return
	}
	var micros int64
	before := p.now()
	row := db.WithContext(ctx).Raw("SELECT " + clock.NowMicros() + clock.Dual()).Row()
	if row.Scan(&micros) == nil {
		p.addClock("the database server", time.UnixMicro(micros), before)
	}
}

// checkClock compares the clocks, on which tokens, leases and ids rely.
func (p *patient) checkClock(context.Context) []Finding {
	if now := p.now(); now.UnixMilli() < xsnowflake.LayoutDefault.Epoch {
		return []Finding{problem(
			fmt.Sprintf("this machine's clock says %s, before the time that ids count from: none can be made", now.UTC().Format(time.DateOnly)), mendClock,
		)}
	}
	p.mu.Lock()
	clocks := slices.Clone(p.clocks)
	p.mu.Unlock()
	if len(clocks) == 0 {
		return []Finding{skipped("no server to compare with")}
	}
	found := make([]Finding, len(clocks))
	for i, c := range clocks {
		found[i] = c.finding()
	}
	return found
}

func (c reading) finding() Finding {
	apart := max(c.ahead.Abs()-c.unsure, 0)
	if apart <= mostSkew {
		return ok("within %s of %s", mostSkew, c.server)
	}
	direction := "ahead of"
	if c.ahead > 0 {
		direction = "behind"
	}
	return warning(fmt.Sprintf("this machine's clock is %s %s that of %s",
		apart.Round(100*time.Millisecond), direction, c.server), mendClock)
}
