package dbtest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

var lockCases = []testCase{
	{"Lock/row lock loses no update", testRowLock},
	{"Lock/deadline interrupts the wait for a row", testRowLockDeadline},
	{"Lock/deadlock is detected and can be retried", testDeadlock},
}

// forUpdate locks the rows of a query until the transaction is committed or rolled back.
var forUpdate = clause.Locking{Strength: clause.LockingStrengthUpdate}

// lockedReads read one row with a lock. Oracle cannot lock rows of a query with FETCH,
// and SQL Server has no FOR UPDATE.
var lockedReads = []func(tx *gorm.DB, a *account, id xsnowflake.SnowflakeID) error{
	func(tx *gorm.DB, a *account, id xsnowflake.SnowflakeID) error {
		return tx.Clauses(forUpdate).First(a, id).Error
	},
	func(tx *gorm.DB, a *account, id xsnowflake.SnowflakeID) error {
		return tx.Clauses(forUpdate).Where("id = ?", id).Take(a).Error
	},
	func(tx *gorm.DB, a *account, id xsnowflake.SnowflakeID) error {
		var all []account
		err := tx.Clauses(forUpdate).Where("id IN ?", []xsnowflake.SnowflakeID{id}).
			Order("id DESC").Find(&all).Error
		if err == nil && len(all) != 1 {
			err = fmt.Errorf("rows = %d, want 1", len(all))
		}
		if err == nil {
			*a = all[0]
		}
		return err
	},
	func(tx *gorm.DB, a *account, id xsnowflake.SnowflakeID) error {
		return tx.Clauses(forUpdate).Where("id = ?", id).Order("balance").Limit(1).Find(a).Error
	},
}

func testRowLock(tb testing.TB, s *suite) {
	db := s.open(tb, &account{})
	a := account{}
	check(tb, db.Create(&a).Error, "create")
	const writers = 20
	check(tb, firstError(inParallel(writers, func(i int) error {
		return db.Transaction(func(tx *gorm.DB) error {
			var mine account
			if err := lockedReads[i%len(lockedReads)](tx, &mine, a.ID); err != nil {
				return fmt.Errorf("read %d: %w", i%len(lockedReads), err)
			}
			pause(time.Millisecond) // makes the other transactions wait
			return tx.Model(&account{}).Where("id = ?", a.ID).
				UpdateColumn("balance", mine.Balance+1).Error
		})
	})), "lock, read and write")
	wantBalance(tb, db, a.ID, writers)
}

func testRowLockDeadline(tb testing.TB, s *suite) {
	db := s.open(tb, &account{}, &note{})
	a := account{Balance: 1}
	check(tb, db.Create(&a).Error, "create")
	for i, read := range lockedReads {
		holder := db.Begin()
		check(tb, holder.Error, "begin")
		var mine, theirs account
		if err := read(holder, &mine, a.ID); err != nil {
			holder.Rollback()
			tb.Fatalf("read %d: lock: %v", i, err)
		}
		wantPrompt(tb, fmt.Sprintf("the second lock, read %d", i), context.DeadlineExceeded,
			func() error {
				ctx, cancel := context.WithTimeout(s.ctx, cancelAfter)
				defer cancel()
				return db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
					return read(tx, &theirs, a.ID)
				})
			})
		check(tb, holder.Rollback().Error, "roll back")
	}
	s.wantUsable(tb, db)
}

// testDeadlock locks the same two rows in opposite order from two transactions. If each
// has locked its first row, the database must abort one. On databases that allow one
// writer at a time, the second transaction waits.
func testDeadlock(tb testing.TB, s *suite) {
	db := s.open(tb, &account{})
	rows := []*account{{}, {}}
	check(tb, db.Create(rows).Error, "create")
	limited := s.withTimeout(tb, db, 20*time.Second)
	var overlaps, conflicts atomic.Int32
	locked := []chan struct{}{make(chan struct{}), make(chan struct{})}
	add := func(tx *gorm.DB, a *account) error {
		return tx.Model(&account{}).Where("id = ?", a.ID).
			UpdateColumn("balance", gorm.Expr("balance + ?", 1)).Error
	}
	addToBoth := func(tx *gorm.DB, i int, first bool) error {
		if err := add(tx, rows[i]); err != nil {
			return err
		}
		if first {
			close(locked[i])
			select {
			case <-locked[1-i]:
				overlaps.Add(1)
			case <-time.After(300 * time.Millisecond):
			}
		}
		return add(tx, rows[1-i])
	}
	check(tb, firstError(inParallel(2, func(i int) error {
		for try := range 10 {
			err := limited.Transaction(func(tx *gorm.DB) error {
				return addToBoth(tx, i, try == 0)
			})
			if err == nil {
				return nil
			}
			if !isConflict(err) {
				return fmt.Errorf("unexpected error (%s): %w", codeOf(err).GetOutput(), err)
			}
			conflicts.Add(1)
		}
		return fmt.Errorf("transaction %d was aborted ten times", i)
	})), "lock both rows")
	if overlaps.Load() == 2 && conflicts.Load() == 0 {
		tb.Error("both transactions locked their first row, and neither was aborted")
	}
	wantBalance(tb, db, rows[0].ID, 2)
	wantBalance(tb, db, rows[1].ID, 2)
}

func (s *suite) withTimeout(tb testing.TB, db *gorm.DB, d time.Duration) *gorm.DB {
	ctx, cancel := context.WithTimeout(s.ctx, d)
	tb.Cleanup(cancel)
	return db.WithContext(ctx)
}

// isConflict reports whether the database aborted a transaction because of another one.
func isConflict(err error) bool {
	code := codeOf(err)
	return code == xerror.ConcurrencyError || code == xerror.LockConflict
}
