package dbtest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/systable"
	"github.com/plinthgo/plinth/core/major/xdb/transaction"
)

var txCases = []testCase{
	{"Transaction/commit keeps the rows", testCommit},
	{"Transaction/rollback removes the rows", testRollback},
	{"Transaction/panic rolls back", testPanic},
	{"Transaction/rolls back to a savepoint", testSavepoint},
	{"Transaction/nested failure keeps the outer transaction", testNested},
	{"Transaction/outer failure rolls back the nested transaction", testNestedOuter},
	{"Transaction/is carried by the context", testContextTx},
	{"Transaction/OnCommit runs after the commit", testOnCommit},
	{"Transaction/NewContext carries a gorm transaction", testNewContext},
	{"CreateTable/concurrent calls create the table once", testCreateTable},
}

var errBoom = errors.New("boom")

func create(tx *gorm.DB, text string) error { return tx.Create(&note{Text: text}).Error }

func wantNotes(tb testing.TB, db *gorm.DB, want ...string) {
	var got []string
	check(tb, db.Model(&note{}).Order("id").Pluck("text", &got).Error, "read")
	if len(got) != len(want) {
		tb.Errorf("values = %q, want %q", got, want)
		return
	}
	for i := range want {
		if got[i] != want[i] {
			tb.Errorf("values = %q, want %q", got, want)
			return
		}
	}
}

func testCommit(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	err := db.Transaction(func(tx *gorm.DB) error { return create(tx, "a") })
	check(tb, err, "transaction")
	wantNotes(tb, db, "a")
}

func testRollback(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	err := db.Transaction(func(tx *gorm.DB) error {
		if err := create(tx, "a"); err != nil {
			return err
		}
		return errBoom
	})
	if !errors.Is(err, errBoom) {
		tb.Errorf("Transaction = %v, want the callback's error", err)
	}
	wantNotes(tb, db)
}

func testPanic(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	func() {
		defer func() {
			if recover() == nil {
				tb.Error("the panic was swallowed")
			}
		}()
		_ = db.Transaction(func(tx *gorm.DB) error {
			check(tb, create(tx, "a"), "create")
			panic("boom")
		})
	}()
	wantNotes(tb, db)
}

func testSavepoint(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	err := db.Transaction(func(tx *gorm.DB) error {
		return errors.Join(
			create(tx, "a"),
			tx.SavePoint("half").Error,
			create(tx, "b"),
			tx.RollbackTo("half").Error,
			create(tx, "c"),
		)
	})
	check(tb, err, "transaction")
	wantNotes(tb, db, "a", "c")
}

func testNested(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	err := db.Transaction(func(tx *gorm.DB) error {
		if err := create(tx, "a"); err != nil {
			return err
		}
		inner := tx.Transaction(func(tx *gorm.DB) error {
			return errors.Join(create(tx, "b"), errBoom)
		})
		if !errors.Is(inner, errBoom) {
			tb.Errorf("the nested transaction = %v, want the callback's error", inner)
		}
		// The outer transaction must be usable after a failed statement in a nested one.
		failed := tx.Transaction(func(tx *gorm.DB) error { return tx.Exec("SELEKT 1").Error })
		if failed == nil {
			tb.Error("the invalid statement succeeded")
		}
		return create(tx, "c")
	})
	check(tb, err, "transaction")
	wantNotes(tb, db, "a", "c")
}

func testNestedOuter(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	err := db.Transaction(func(tx *gorm.DB) error {
		check(tb, tx.Transaction(func(tx *gorm.DB) error { return create(tx, "a") }),
			"inner transaction")
		return errBoom
	})
	if !errors.Is(err, errBoom) {
		tb.Errorf("Transaction = %v, want the callback's error", err)
	}
	wantNotes(tb, db)
}

func testContextTx(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	ctx := context.WithValue(s.ctx, xctx.DatabaseKey, db)
	err := xdb.Transaction(ctx, func(ctx context.Context) error {
		check(tb, create(xdb.MustGetDB(ctx), "a"), "create")
		return errBoom
	})
	if !errors.Is(err, errBoom) {
		tb.Errorf("Transaction = %v, want the callback's error", err)
	}
	check(tb, xdb.Transaction(ctx, func(ctx context.Context) error {
		check(tb, create(xdb.MustGetDB(ctx), "b"), "create")
		inner := xdb.Transaction(ctx, func(ctx context.Context) error {
			return errors.Join(create(xdb.MustGetDB(ctx), "c"), errBoom)
		})
		if !errors.Is(inner, errBoom) {
			tb.Errorf("the nested Transaction = %v, want the callback's error", inner)
		}
		return nil
	}), "transaction")
	wantNotes(tb, db, "b")
}

func testOnCommit(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	ctx := context.WithValue(s.ctx, xctx.DatabaseKey, db)
	var seen []int64
	countNotes := func(ctx context.Context) {
		var n int64
		check(tb, xdb.MustGetDB(ctx).Model(&note{}).Count(&n).Error, "count after the commit")
		seen = append(seen, n)
	}
	check(tb, xdb.Transaction(ctx, func(ctx context.Context) error {
		xdb.OnCommit(ctx, countNotes)
		check(tb, create(xdb.MustGetDB(ctx), "a"), "create")
		_ = xdb.Transaction(ctx, func(ctx context.Context) error {
			xdb.OnCommit(ctx, func(context.Context) {
				tb.Error("OnCommit ran for a savepoint that was rolled back")
			})
			return errBoom
		})
		return nil
	}), "transaction")
	_ = xdb.Transaction(ctx, func(ctx context.Context) error {
		xdb.OnCommit(ctx, func(context.Context) {
			tb.Error("OnCommit ran for a transaction that was rolled back")
		})
		return errBoom
	})
	contexts := make(chan context.Context, 1)
	func() {
		defer func() { _ = recover() }()
		_ = xdb.Transaction(ctx, func(ctx context.Context) error {
			contexts <- ctx
			panic("boom")
		})
	}()
	if xdb.OnCommit(<-contexts, func(context.Context) {
		tb.Error("OnCommit ran for a transaction that panicked")
	}) {
		tb.Error("OnCommit = true after the transaction ended, want false")
	}
	if !slices.Equal(seen, []int64{1}) {
		tb.Errorf("OnCommit saw %v rows, want [1]: one call after the commit", seen)
	}
}

func testNewContext(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	err := db.Transaction(func(tx *gorm.DB) error {
		ctx := xdb.NewContext(s.ctx, tx)
		if xdb.OnCommit(ctx, func(context.Context) { tb.Error("the function ran") }) {
			tb.Error("OnCommit = true in a transaction of NewContext, want false")
		}
		return errors.Join(create(xdb.MustGetDB(ctx), "a"), errBoom)
	})
	if !errors.Is(err, errBoom) {
		tb.Errorf("Transaction = %v, want the callback's error", err)
	}
	wantNotes(tb, db)
	check(tb, xdb.Transaction(context.WithValue(s.ctx, xctx.DatabaseKey, db),
		func(ctx context.Context) error {
			other := xdb.NewContext(ctx, db) // outside the transaction
			if transaction.In(other) {
				tb.Error("In = true for NewContext with the database, want false")
			}
			return nil
		}), "transaction")
}

// standalone is an entity whose table only systable.Create creates.
type standalone struct {
	ID   int64  `gorm:"primaryKey;autoIncrement:false"`
	Name string `gorm:"size:20;index"`
}

func testCreateTable(tb testing.TB, s *suite) {
	db := s.open(tb)
	tb.Cleanup(func() {
		check(tb, db.WithContext(context.WithoutCancel(s.ctx)).Migrator().DropTable(&standalone{}),
			"drop the table")
	})
	errs := make(chan error, 4)
	for range cap(errs) {
		go func() { errs <- systable.Create(s.ctx, db, &standalone{}) }()
	}
	for range cap(errs) {
		check(tb, <-errs, "CreateTable")
	}
	check(tb, db.Create(&standalone{ID: 1, Name: "kept"}).Error, "create")
	check(tb, systable.Create(s.ctx, db, &standalone{}), "CreateTable of an existing table")
	var n int64
	check(tb, db.Model(&standalone{}).Where("name = ?", "kept").Count(&n).Error, "count")
	if n != 1 {
		tb.Errorf("rows = %d, want 1", n)
	}
}
