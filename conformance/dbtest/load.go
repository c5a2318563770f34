package dbtest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

var loadCases = []testCase{
	{"Load/batches of 1000 rows", testBatches},
	{"Load/100 concurrent increments", testIncrements},
	{"Load/100 concurrent transactions", testTransactions},
	{"Load/optimistic lock loses no update", testVersionedIncrements},
	{"Load/all connections share one database", testOneDatabase},
}

// inParallel calls do n times concurrently and returns the errors.
func inParallel(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	return errs
}

func firstError(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func testBatches(tb testing.TB, s *suite) {
	db := s.open(tb, &author{}, &book{})
	const total = 1200
	rows := make([]author, total)
	for i := range rows {
		rows[i].Name = fmt.Sprintf("name %d", i)
	}
	check(tb, db.CreateInBatches(rows, 1000).Error, "create in batches")
	if got := count(tb, db, &author{}); got != total {
		tb.Errorf("rows = %d, want %d", got, total)
	}
	seen := map[xsnowflake.SnowflakeID]bool{}
	for _, r := range rows {
		seen[r.ID] = true
	}
	if len(seen) != total {
		tb.Errorf("different ids = %d, want %d", len(seen), total)
	}
	rows[total-1].Name = rows[3].Name
	for i := range rows {
		rows[i].ID = 0
		rows[i].Name = "again " + rows[i].Name
	}
	if err := db.CreateInBatches(rows, 1000).Error; !errors.Is(err, gorm.ErrDuplicatedKey) {
		tb.Errorf("a batch with a duplicate = %v, want gorm.ErrDuplicatedKey", err)
	}
	if got := count(tb, db, &author{}); got != total {
		tb.Errorf("rows = %d after the failed batches, want %d", got, total)
	}
}

func testIncrements(tb testing.TB, s *suite) {
	db := s.open(tb, &account{})
	a := account{}
	check(tb, db.Create(&a).Error, "create")
	check(tb, firstError(inParallel(100, func(int) error {
		return db.Model(&account{}).Where("id = ?", a.ID).
			Update("balance", gorm.Expr("balance + ?", 1)).Error
	})), "increment")
	wantBalance(tb, db, a.ID, 100)
}

func testTransactions(tb testing.TB, s *suite) {
	db := s.open(tb, &account{})
	from, to := account{Balance: 1000}, account{}
	check(tb, db.Create([]*account{&from, &to}).Error, "create")
	check(tb, firstError(inParallel(100, func(int) error {
		return db.Transaction(func(tx *gorm.DB) error {
			return errors.Join(
				tx.Model(&account{}).Where("id = ?", from.ID).
					Update("balance", gorm.Expr("balance - ?", 1)).Error,
				tx.Model(&account{}).Where("id = ?", to.ID).
					Update("balance", gorm.Expr("balance + ?", 1)).Error,
			)
		})
	})), "transfer")
	wantBalance(tb, db, from.ID, 900)
	wantBalance(tb, db, to.ID, 100)
}

func testVersionedIncrements(tb testing.TB, s *suite) {
	db := s.open(tb, &account{})
	a := account{}
	check(tb, db.Create(&a).Error, "create")
	const writers = 10
	check(tb, firstError(inParallel(writers, func(int) error {
		for range 1000 {
			var mine account
			if err := db.First(&mine, a.ID).Error; err != nil {
				return err
			}
			mine.Balance++
			err := db.Save(&mine).Error
			if !errors.Is(err, xerror.OptimisticLock) {
				return err
			}
		}
		return errors.New("1000 conflicts in a row")
	})), "increment")
	wantBalance(tb, db, a.ID, writers)
}

func testOneDatabase(tb testing.TB, s *suite) {
	o := s.options(tb, &note{})
	o.MaxOpenConns, o.MaxIdleConns = 10, -1 // close idle connections
	db := s.openWith(tb, o)
	check(tb, firstError(inParallel(100, func(i int) error {
		n := note{Text: fmt.Sprint(i)}
		if err := db.Create(&n).Error; err != nil {
			return fmt.Errorf("create: %w", err)
		}
		return db.First(&note{}, n.ID).Error
	})), "write and read")
	if got := count(tb, db, &note{}); got != 100 {
		tb.Errorf("rows = %d, want 100", got)
	}
}

func wantBalance(tb testing.TB, db *gorm.DB, id xsnowflake.SnowflakeID, want int64) {
	var got account
	check(tb, db.First(&got, id).Error, "read")
	if got.Balance != want {
		tb.Errorf("balance = %d, want %d", got.Balance, want)
	}
}
