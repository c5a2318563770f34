package dbtest

import (
	"strings"
	"testing"
	"time"
)

var logCases = []testCase{
	{"Log/slow statements without literals", testSlowLog},
	{"Log/no warning for fast statements", testFastLog},
	{"Log/failed statement", testFailedStatementLog},
}

func testSlowLog(tb testing.TB, s *suite) {
	o := s.options(tb, &author{}, &book{})
	o.SlowThreshold = time.Nanosecond
	db := s.openWith(tb, o)
	s.log.Reset()
	check(tb, db.Create(&author{Name: secretValue}).Error, "create")
	var n int64
	check(tb, db.Model(&author{}).Where("name = '"+secretValue+"' OR name = ?", secretValue).
		Count(&n).Error, "count")
	if n != 1 {
		tb.Errorf("rows = %d, want 1", n)
	}
	for _, quoted := range []string{"it's ", `a"b `, `back\slash' `, `end\`, "`tick` "} {
		// gorm puts the parameters of Raw and Scan into the statement that it logs.
		check(tb, db.Raw("SELECT count(*) FROM "+s.prefix+"authors WHERE name = ? OR name = ?",
			quoted, secretValue).Scan(&n).Error, "scan")
		check(tb, db.Raw("SELECT count(*) FROM "+s.prefix+"authors WHERE name IN ?",
			[]string{quoted + secretValue, secretValue}).Scan(&n).Error, "scan")
	}
	if got := s.log.count("slow statement", `"level":"warn"`); got < 2 {
		tb.Errorf("warnings = %d, want 2:\n%s", got, s.log)
	}
	if got := s.log.count("slow statement", s.prefix+"authors"); got < 2 {
		tb.Errorf("the log does not contain the table:\n%s", s.log)
	}
	if strings.Contains(s.log.String(), secretValue) {
		tb.Errorf("the log contains a literal:\n%s", s.log)
	}
}

func testFastLog(tb testing.TB, s *suite) {
	o := s.options(tb, &author{}, &book{})
	o.SlowThreshold = time.Minute
	db := s.openWith(tb, o)
	s.log.Reset()
	check(tb, db.Create(&author{Name: "x"}).Error, "create")
	if got := s.log.count("slow statement"); got != 0 {
		tb.Errorf("warnings = %d, want 0:\n%s", got, s.log)
	}
}

func testFailedStatementLog(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	s.log.Reset()
	if err := db.Exec("SELEKT 1").Error; err == nil {
		tb.Error("the invalid statement succeeded")
	}
	if got := s.log.count("statement failed", "SELEKT", `"level":"error"`); got != 1 {
		tb.Errorf("error lines = %d, want 1:\n%s", got, s.log)
	}
}
