package dbtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlease"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// leaseCases cover leases in a database. Package leasetest checks their semantics.
var leaseCases = []testCase{
	{"Lease/tokens follow the wall clock", testLeaseClock},
	{"Lease/one of two acquires", testLeaseRace},
	{"Lease/slots have one holder", testLeaseSlots},
	{"Lease/names are exact", testLeaseNames},
	{"Lease/table is created once with the prefix", testLeaseTable},
	{"Lease/renew restores a deleted row", testLeaseRow},
	{"Lease/removes old rows", testLeaseSweep},
	{"Lease/is independent of transactions", testLeaseTransaction},
	{"Lease/deadline interrupts the wait for a connection", testLeaseDeadline},
	{"Lease/statements are not logged", testLeaseLog},
	{"Lease/prepared statements", testLeasePrepared},
	{"Lease/Close releases", testLeaseClose},
	{"Lease/outage longer than the TTL loses the lease", testLeaseOutage},
}

const leaseTTL = time.Minute

// openLeases opens a database with leases, and drops their table at the end of the check.
// If the driver has no clock, openLeases checks the error and skips the check.
func (s *suite) openLeases(tb testing.TB, change ...func(*xdb.Options)) *gorm.DB {
	o := s.options(tb)
	for _, c := range change {
		c(&o)
	}
	db := s.openWith(tb, o)
	if _, ok := s.Driver.(driver.Clock); !ok {
		if _, err := xdb.Leases(db); !errors.Is(err, xlease.ErrUnsupported) ||
			!strings.Contains(err.Error(), s.Driver.Name()) {
			tb.Errorf("Leases without a clock = %v, want %v and the name of the driver",
				err, xlease.ErrUnsupported)
		}
		tb.Skip("the driver has no clock")
	}
	tb.Cleanup(func() {
		uncanceled := db.WithContext(context.WithoutCancel(s.ctx))
		if table := s.prefix + "plinth_leases"; uncanceled.Migrator().HasTable(table) {
			check(tb, uncanceled.Migrator().DropTable(table), "drop the table of leases")
		}
	})
	return db
}

// sameParts returns an option that opens the database of c.
func sameParts(c driver.Config) func(*xdb.Options) { return func(o *xdb.Options) { o.Parts = c } }

func backend(tb testing.TB, db *gorm.DB) leasedriver.Backend {
	leases, err := xdb.Leases(db)
	check(tb, err, "leases")
	return leases.Backend()
}

// newRequest returns a request of a new holder.
func newRequest(name string) leasedriver.Request {
	return leasedriver.Request{Name: name, Count: 1, Holder: rand.Text(), TTL: leaseTTL}
}

// holding returns the holding of a granted request.
func holding(r leasedriver.Request, g leasedriver.Grant) leasedriver.Holding {
	return leasedriver.Holding{
		Name: r.Name, Slot: g.Slot, Holder: r.Holder, Token: g.Token,
		TTL: r.TTL, Mark: max(g.Mark, r.Mark),
	}
}

// mustAcquire acquires a name that must be free.
func (s *suite) mustAcquire(
	tb testing.TB, b leasedriver.Backend, r leasedriver.Request,
) leasedriver.Holding {
	g, err := b.Acquire(s.ctx, r)
	check(tb, err, "acquire")
	if !g.OK {
		tb.Fatalf("%s is held for %s, want it free", r.Name, g.Wait)
	}
	return holding(r, g)
}

func testLeaseClock(tb testing.TB, s *suite) {
	b := backend(tb, s.openLeases(tb))
	r := newRequest("clock")
	h := s.mustAcquire(tb, b, r)
	if d := time.Since(time.UnixMicro(h.Token)).Abs(); d > 5*time.Second {
		tb.Errorf("the token differs from the local clock by %s", d)
	}
	g, err := b.Acquire(s.ctx, newRequest("clock"))
	check(tb, err, "acquire")
	if g.OK || g.Wait > leaseTTL || g.Wait < leaseTTL-5*time.Second {
		tb.Errorf("second acquire = %+v, want a wait of slightly less than %s", g, leaseTTL)
	}
}

func testLeaseRace(tb testing.TB, s *suite) {
	parts := sameParts(s.Config(tb))
	both := []leasedriver.Backend{backend(tb, s.openLeases(tb, parts)), nil}
	if both[1] = both[0]; !s.differs(DiffPrivate) {
		both[1] = backend(tb, s.openLeases(tb, parts))
	}
	const rounds = 500
	var last int64
	var winners [2]int
	for round := range rounds {
		name := "race"
		if round%2 == 0 {
			name = fmt.Sprint("race:", round) // has no row yet
		}
		var won [2]leasedriver.Holding
		check(tb, firstError(inParallel(2, func(i int) error {
			r := newRequest(name)
			g, err := both[i].Acquire(s.ctx, r)
			if g.OK {
				won[i] = holding(r, g)
			}
			return err
		})), "acquire")
		i := 0
		if won[1].Name != "" {
			i = 1
		}
		if won[i].Name == "" || won[1-i].Name != "" {
			tb.Fatalf("round %d: %+v and %+v, want one grant", round, won[0], won[1])
		}
		if won[i].Name == "race" {
			if won[i].Token <= last {
				tb.Errorf("round %d: token %d after %d", round, won[i].Token, last)
			}
			last = won[i].Token
		}
		winners[i]++
		ok, err := both[i].Release(s.ctx, won[i])
		if err != nil || !ok {
			tb.Fatalf("release = %t, %v", ok, err)
		}
	}
	tb.Logf("winners of %d races: %v", rounds, winners)
}

func testLeaseSlots(tb testing.TB, s *suite) { RaceForLeases(tb, backend(tb, s.openLeases(tb))) }

func testLeaseNames(tb testing.TB, s *suite) {
	b := backend(tb, s.openLeases(tb))
	var all strings.Builder
	for c := '!'; c <= '~'; c++ {
		all.WriteRune(c)
	}
	names := []string{
		"Job", "job", "JOB", all.String(), strings.Repeat("x", 200),
		strings.Repeat("x", 199), "a_b", "a%b", "?", "@x", "{id}", "'",
	}
	for _, name := range names {
		h := s.mustAcquire(tb, b, newRequest(name))
		if ok, err := b.Renew(s.ctx, h); err != nil || !ok {
			tb.Errorf("renew %q = %t, %v", name, ok, err)
		}
	}
	for _, name := range names {
		if g, err := b.Acquire(s.ctx, newRequest(name)); err != nil || g.OK {
			tb.Errorf("%q was granted twice (%v)", name, err)
		}
	}
}

func testLeaseTable(tb testing.TB, s *suite) {
	parts := sameParts(s.Config(tb))
	dbs := []*gorm.DB{s.openLeases(tb, parts)}
	for range 7 {
		if !s.differs(DiffPrivate) {
			dbs = append(dbs, s.openLeases(tb, parts))
		}
	}
	for _, db := range dbs {
		_, err := xdb.Leases(db)
		check(tb, err, "leases")
	}
	if s.hasTable(dbs[0], "plinth_leases") {
		tb.Errorf("the table %splinth_leases exists before the first lease", s.prefix)
	}
	check(tb, firstError(inParallel(4*len(dbs), func(i int) error {
		leases, err := xdb.Leases(dbs[i%len(dbs)])
		if err != nil {
			return err
		}
		return leases.Prepare(s.ctx)
	})), "prepare leases concurrently")
	if !s.hasTable(dbs[0], "plinth_leases") {
		tb.Errorf("the table %splinth_leases is missing", s.prefix)
	}
	one, err := xdb.Leases(dbs[0])
	check(tb, err, "leases")
	other, err := xdb.Leases(dbs[0].Session(&gorm.Session{NewDB: true}))
	check(tb, err, "leases")
	if one != other {
		tb.Error("Leases returned two values for one database")
	}
	if t := one.Capabilities(); t.Name != s.Driver.Name() || !t.Durable ||
		(t.Scope == leasedriver.Process) != s.differs(DiffPrivate) {
		tb.Errorf("capabilities = %+v", t)
	}
}

type leaseRow struct {
	ID      string
	Slot    int64
	Name    string
	Slots   int64
	Holder  string
	Token   int64
	Mark    int64
	SinceUS int64 `gorm:"column:since_us"`
	UntilUS int64 `gorm:"column:until_us"`
}

func (s *suite) rows(db *gorm.DB) *gorm.DB { return db.Table(s.prefix + "plinth_leases") }

// rowOf returns the row named "row", which must belong to h.
func (s *suite) rowOf(tb testing.TB, db *gorm.DB, h leasedriver.Holding) (row leaseRow) {
	tb.Helper()
	check(tb, s.rows(db).Where("name = ?", "row").Take(&row).Error, "read")
	if row.Holder != fmt.Sprintf("%x", h.Holder) || row.Token != h.Token {
		tb.Errorf("the row is %+v, want %+v", row, h)
	}
	return row
}

func testLeaseRow(tb testing.TB, s *suite) {
	db := s.openLeases(tb)
	b := backend(tb, db)
	h := s.mustAcquire(tb, b, newRequest("row"))
	h.Mark = 7
	if row := s.rowOf(tb, db, h); row.Slots != 1 {
		tb.Errorf("the row is %+v, want %+v", row, h)
	}
	check(tb, s.rows(db).Where("name = ?", "row").Delete(&leaseRow{}).Error, "delete")
	if ok, err := b.Renew(s.ctx, h); err != nil || !ok {
		tb.Errorf("renew without a row = %t, %v; want true", ok, err)
	}
	if row := s.rowOf(tb, db, h); row.Mark != 7 {
		tb.Errorf("the restored row is %+v, want %+v", row, h)
	}
	check(tb, s.rows(db).Where("name = ?", "row").Delete(&leaseRow{}).Error, "delete")
	s.mustAcquire(tb, b, newRequest("row"))
	if ok, err := b.Renew(s.ctx, h); err != nil || ok {
		tb.Errorf("renew = %t, %v after another acquire; want false", ok, err)
	}
	if ok, err := b.Release(s.ctx, h); err != nil || ok {
		tb.Errorf("release = %t, %v after another acquire; want false", ok, err)
	}
}

// testLeaseSweep creates rows that expired three days ago and one that expired an hour
// ago. The first request deletes the old rows except those of names with several slots or
// an unknown number of slots.
func testLeaseSweep(tb testing.TB, s *suite) {
	db := s.openLeases(tb)
	b := backend(tb, db)
	check(tb, b.(leasedriver.Preparer).Prepare(s.ctx), "prepare") //nolint:forcetypeassert // xdb's
	old, recent := time.Now().Add(-72*time.Hour).UnixMicro(), time.Now().Add(-time.Hour).UnixMicro()
	rows := make([]leaseRow, 0, 1203)
	for i := range 1200 {
		name := fmt.Sprint("order:", i)
		rows = append(rows, leaseRow{
			ID: fmt.Sprintf("9%063d", i), Name: name, Slots: 1,
			Holder: "-", Token: 1, UntilUS: old,
		})
	}
	rows = append(rows,
		leaseRow{ID: "0a", Name: "recent", Slots: 1, Holder: "-", UntilUS: recent},
		leaseRow{ID: "0b", Name: "many", Slots: 5, Holder: "-", UntilUS: old},
		leaseRow{ID: "0b", Slot: 3, Name: "many", Slots: 5, Holder: "-", UntilUS: old},
		leaseRow{ID: "0c", Name: "unknown", Holder: "-", UntilUS: old},
	)
	check(tb, s.rows(db).CreateInBatches(rows, 100).Error, "create")
	s.mustAcquire(tb, b, newRequest("any"))
	var remaining int64
	for try := 0; ; try++ {
		check(tb, s.rows(db).Where("name LIKE ?", "order:%").Count(&remaining).Error, "count")
		if remaining == 0 || try == 500 {
			break
		}
		pause(10 * time.Millisecond)
	}
	if remaining != 0 {
		tb.Errorf("old rows = %d of 1200, want 0", remaining)
	}
	var others int64
	check(tb, s.rows(db).Where("name NOT LIKE ?", "order:%").Count(&others).Error, "count")
	if others != 5 {
		tb.Errorf("other rows = %d, want 5", others)
	}
}

func testLeaseLog(tb testing.TB, s *suite) {
	db := s.openLeases(tb, func(o *xdb.Options) { o.SlowThreshold = time.Nanosecond })
	b := backend(tb, db)
	s.log.Reset()
	h := s.mustAcquire(tb, b, newRequest("quiet"))
	for range 3 {
		_, err := b.Renew(s.ctx, h)
		check(tb, err, "renew")
	}
	_, err := b.Release(s.ctx, h)
	check(tb, err, "release")
	if got := s.log.String(); got != "" {
		tb.Errorf("log = %s, want no lines", got)
	}
	check(tb, s.rows(db).Where("name = ?", "quiet").Take(&leaseRow{}).Error, "read")
	if s.log.count("slow statement", "plinth_leases") == 0 {
		tb.Error("the statement of the application is not logged")
	}
}

func testLeasePrepared(tb testing.TB, s *suite) {
	b := backend(tb, s.openLeases(tb, func(o *xdb.Options) {
		o.Gorm = func(c *gorm.Config) { c.PrepareStmt = true }
	}))
	for round := range 3 {
		h := s.mustAcquire(tb, b, newRequest("prepared"))
		if g, err := b.Acquire(s.ctx, newRequest("prepared")); err != nil || g.OK {
			tb.Errorf("round %d: second acquire = %+v, %v", round, g, err)
		}
		renewed, renewErr := b.Renew(s.ctx, h)
		released, releaseErr := b.Release(s.ctx, h)
		if err := errors.Join(renewErr, releaseErr); err != nil || !renewed || !released {
			tb.Errorf("round %d: renewed %t, released %t, %v", round, renewed, released, err)
		}
	}
}

func testLeaseClose(tb testing.TB, s *suite) {
	parts := sameParts(s.Config(tb))
	second := s.openLeases(tb, parts)
	o := s.options(tb)
	parts(&o)
	first, err := s.registry.Open(s.ctx, o)
	check(tb, err, "open")
	defer func() { check(tb, xdb.Close(first), "close again") }()
	leases, err := xdb.Leases(first)
	check(tb, err, "leases")
	lease, err := leases.Lease(s.ctx, "closed", leaseTTL)
	check(tb, err, "lease")
	other := backend(tb, second)
	g, err := other.Acquire(s.ctx, newRequest("closed"))
	if err != nil || g.OK != s.differs(DiffPrivate) {
		tb.Errorf("second acquire = %+v, %v", g, err)
	}
	check(tb, xdb.Close(first), "close")
	select {
	case <-lease.Done():
	default:
		tb.Error("the lease is still valid after Close")
	}
	if !s.differs(DiffPrivate) {
		s.mustAcquire(tb, other, newRequest("closed"))
	}
	if _, err := xdb.Leases(first); !errors.Is(err, xlease.ErrClosed) {
		tb.Errorf("Leases after Close = %v, want %v", err, xlease.ErrClosed)
	}
}
