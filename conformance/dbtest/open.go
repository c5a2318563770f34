package dbtest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

var openCases = []testCase{
	{"Open/reports the interface version", testInterface},
	{"Open/pings and closes", testOpen},
	{"Open/rejects bad parts", testBadParts},
	{"Open/does not retry a permanent error", testUnusable},
	{"Open/parts and DSN are equivalent", testParts},
	{"Open/accepts special characters", testSpecialText},
	{"Open/stops when the context is canceled", testOpenContext},
	{"Open/enforces the pool size", testPool},
}

// specialTexts break a DSN whose parts are not quoted, or inject a parameter into it.
var specialTexts = []string{
	"with space", " ends ", "a'b", `a"b`, `a\b`, "a@b", "a:b", "a%b", "a%20b", "a?b=c", "a#b",
	"a&b=c", "a;b=c", "a=b", "a{b}c", "a+b",
	"x host=evil", "x&_pragma=query_only(1)", "密码", "пароль", "🔑", "a$b`c!",
	"a|b~c^d", "a,b(c)",
}

func testInterface(tb testing.TB, s *suite) {
	if got := s.Driver.InterfaceVersion(); got != driver.InterfaceVersion {
		tb.Errorf("InterfaceVersion = %d, want %d: see the changes of package driver",
			got, driver.InterfaceVersion)
	}
}

func testOpen(tb testing.TB, s *suite) {
	o := s.options(tb, &note{})
	db, err := s.registry.Open(s.ctx, o)
	check(tb, err, "open")
	check(tb, xdb.CheckHealth(s.ctx, db), "health")
	check(tb, db.WithContext(s.ctx).Migrator().DropTable(&note{}), "drop the table")
	check(tb, xdb.Close(db), "close")
	check(tb, xdb.Close(db), "close again")
	if err := xdb.CheckHealth(s.ctx, db); err == nil {
		tb.Error("CheckHealth = nil for a closed database")
	}
	if got := s.log.count("database connected", s.Driver.Name()); got != 1 {
		tb.Errorf("lines \"database connected\" = %d, want 1", got)
	}
	d, err := s.registry.Resolve(o)
	check(tb, err, "resolve")
	if d.String() == "" {
		tb.Error("String of the resolved database is empty")
	}
	s.noSecret(tb, o.Parts)
}

func testBadParts(tb testing.TB, s *suite) {
	for name, parts := range s.InvalidParts {
		parts.Pass = "secret-of-a-bad-part"
		dsn, err := s.Driver.DSN(parts)
		if err == nil {
			tb.Errorf("%s: DSN(%v) = %q, want an error",
				name, parts, strings.ReplaceAll(dsn, parts.Pass, "***"))
			continue
		}
		if strings.Contains(err.Error(), parts.Pass) {
			tb.Errorf("%s: the error contains the password", name)
		}
		if !strings.Contains(err.Error(), "DATABASE_") {
			tb.Errorf("%s: error = %q, want one that names a variable", name, err)
		}
		o := xdb.Options{Driver: s.Driver.Name(), Parts: parts}
		if _, err := s.registry.Resolve(o); err == nil {
			tb.Errorf("%s: Resolve succeeded", name)
		}
	}
}

func testUnusable(tb testing.TB, s *suite) {
	for name, parts := range s.Unusable(tb) {
		o := xdb.Options{Driver: s.Driver.Name(), Parts: parts, ConnectTimeout: 2 * time.Second}
		db, err := s.registry.Open(s.ctx, o)
		if err == nil {
			tb.Errorf("%s: Open succeeded", name)
			check(tb, xdb.Close(db), "close")
			continue
		}
		if n := s.log.count("not reachable yet"); n > 0 {
			tb.Errorf("%s: Open retried %d times (%v)", name, n, err)
		}
		if parts.Pass != "" && strings.Contains(err.Error(), parts.Pass) {
			tb.Errorf("%s: the error contains the password", name)
		}
		s.noSecret(tb, parts)
	}
}

func testParts(tb testing.TB, s *suite) {
	o := s.options(tb, &note{})
	db := s.openWith(tb, o)
	check(tb, db.Create(&note{Text: "written"}).Error, "create")

	dsn, err := s.Driver.DSN(o.Parts)
	check(tb, err, "DSN")
	byDSN := o
	byDSN.Parts.Name, byDSN.Parts.Host = "ignored", "ignored.invalid"
	byDSN.DSN = xlog.Secret(dsn)
	other, err := s.registry.Open(s.ctx, byDSN)
	check(tb, err, "open by DSN")
	defer func() { check(tb, xdb.Close(other), "close") }()
	want := int64(1)
	if s.differs(DiffPrivate) {
		want = 0
	}
	if got := count(tb, other.WithContext(s.ctx), &note{}); got != want {
		tb.Errorf("rows of the database opened by DSN = %d, want %d", got, want)
	}
}

func testSpecialText(tb testing.TB, s *suite) {
	if s.differs(DiffNoCredentials) && s.differs(DiffPrivate) {
		tb.Skip("the database has no password and no name")
	}
	for _, text := range specialTexts {
		parts, verify := s.SpecialText(tb, text)
		o := xdb.Options{Driver: s.Driver.Name(), Parts: parts, ConnectTimeout: 10 * time.Second}
		db, err := s.registry.Open(s.ctx, o)
		if err != nil {
			tb.Errorf("%q: open: %v", text, err)
			continue
		}
		if err := verify(db.WithContext(s.ctx)); err != nil {
			tb.Errorf("%q: Open connected to another database: %v", text, err)
		}
		check(tb, xdb.Close(db), "close")
		s.noSecret(tb, o.Parts)
	}
}

func testOpenContext(tb testing.TB, s *suite) {
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	start := time.Now()
	db, err := s.registry.Open(ctx, s.options(tb))
	if err == nil {
		check(tb, xdb.Close(db), "close")
		tb.Fatal("Open succeeded with a canceled context")
	}
	if elapsed := time.Since(start); elapsed > time.Second {
		tb.Errorf("Open returned after %s, want at most 1 s", elapsed)
	}
}

func testPool(tb testing.TB, s *suite) {
	o := s.options(tb, &note{})
	o.MaxOpenConns = 3
	db := s.openWith(tb, o)
	pool, err := db.DB()
	check(tb, err, "pool")
	errs := inParallel(20, func(int) error { return db.Create(&note{Text: "x"}).Error })
	if err := firstError(errs); err != nil {
		tb.Fatalf("create: %v", err)
	}
	if got := pool.Stats().MaxOpenConnections; got != 3 {
		tb.Errorf("MaxOpenConnections = %d, want 3", got)
	}
	if got := count(tb, db, &note{}); got != 20 {
		tb.Errorf("rows = %d, want 20", got)
	}
}
