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

// maxSkew is the largest clock difference without a warning.
const maxSkew = time.Second

const clockFix = "synchronize the clocks with NTP: timedatectl set-ntp true, or chronyc makestep"

// reading is the difference between the clocks of a server and this machine.
type reading struct {
	server      string
	ahead       time.Duration
	uncertainty time.Duration // half of the round-trip time
}

// readClock queries the time of a database server.
func (p *target) readClock(ctx context.Context, db *gorm.DB) {
	clock, err := systable.Clock(db)
	if err != nil || db.Name() == "sqlite" { // SQLite uses the clock of this machine
		return
	}
	var micros int64
	before := p.now()
	row := db.WithContext(ctx).Raw("SELECT " + clock.NowMicros() + clock.Dual()).Row()
	if row.Scan(&micros) == nil {
		p.addClock("the database server", time.UnixMicro(micros), before)
	}
}

// checkClock compares the clocks. Tokens, leases and IDs depend on them.
func (p *target) checkClock(context.Context) []Finding {
	if now := p.now(); now.UnixMilli() < xsnowflake.LayoutDefault.Epoch {
		return []Finding{problem(
			fmt.Sprintf("the clock of this machine is set to %s, before the epoch of IDs: no ID can be generated", now.UTC().Format(time.DateOnly)), clockFix,
		)}
	}
	p.mu.Lock()
	clocks := slices.Clone(p.clocks)
	p.mu.Unlock()
	if len(clocks) == 0 {
		return []Finding{skipped("no server to compare the clock with")}
	}
	found := make([]Finding, len(clocks))
	for i, c := range clocks {
		found[i] = c.finding()
	}
	return found
}

func (c reading) finding() Finding {
	apart := max(c.ahead.Abs()-c.uncertainty, 0)
	if apart <= maxSkew {
		return ok("within %s of the clock of %s", maxSkew, c.server)
	}
	direction := "ahead of"
	if c.ahead > 0 {
		direction = "behind"
	}
	return warning(fmt.Sprintf("the clock of this machine is %s %s the clock of %s",
		apart.Round(100*time.Millisecond), direction, c.server), clockFix)
}
