package dbtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

var errorCases = []testCase{
	{"Errors/same code on every database", testCodes},
	{"Errors/contain no values", testErrorText},
	{"Errors/same kind from every gorm method", testErrorMethods},
	{"Errors/foreign errors are not classified", testForeignErrors},
	{"Errors/record not found", testNotFound},
	{"Errors/cancellation interrupts a statement", testCancel},
	{"Errors/deadline interrupts a statement", testDeadline},
	{"Errors/deadline interrupts the wait for a lock", testLockDeadline},
}

// secretValue is part of every value that a constraint rejects. Errors must not contain
// it.
const secretValue = "unique-secret-value"

type violation struct {
	name       string
	do         func(db *gorm.DB, a author) error
	code       *xerror.ErrorCode
	sentinel   error
	difference string // allows the statement to succeed, if the harness declares it
}

var violations = []violation{
	{"unique column", func(db *gorm.DB, a author) error {
		return db.Create(&author{Name: a.Name}).Error
	}, xerror.UniqueConstraint, gorm.ErrDuplicatedKey, ""},
	{"primary key", func(db *gorm.DB, a author) error {
		b := author{Name: "another " + secretValue}
		b.ID = a.ID
		return db.Create(&b).Error
	}, xerror.UniqueConstraint, gorm.ErrDuplicatedKey, ""},
	{"unique column of an update", func(db *gorm.DB, a author) error {
		b := author{Name: "other " + secretValue}
		if err := db.Create(&b).Error; err != nil {
			return err
		}
		return db.Model(&b).Update("name", a.Name).Error
	}, xerror.UniqueConstraint, gorm.ErrDuplicatedKey, ""},
	{"missing referenced row", func(db *gorm.DB, _ author) error {
		return db.Create(&book{Title: secretValue, AuthorID: 42}).Error
	}, xerror.ForeignKeyError, gorm.ErrForeignKeyViolated, ""},
	{"referenced row", func(db *gorm.DB, a author) error {
		if err := db.Create(&book{Title: secretValue, AuthorID: a.ID}).Error; err != nil {
			return err
		}
		return db.Delete(&author{}, a.ID).Error
	}, xerror.ForeignKeyError, gorm.ErrForeignKeyViolated, ""},
	{"check constraint", func(db *gorm.DB, _ author) error {
		return db.Create(&author{Name: "young " + secretValue, Age: -1}).Error
	}, xerror.IntegrityError, gorm.ErrCheckConstraintViolated, ""},
	{"not null", func(db *gorm.DB, a author) error {
		return db.Model(&a).Update("name", nil).Error
	}, xerror.DataIncomplete, nil, ""},
	{"value too long", func(db *gorm.DB, _ author) error {
		return db.Create(&author{Name: strings.Repeat(secretValue, 10)}).Error
	}, xerror.DataTooLarge, nil, DiffNoLength},
	{"invalid syntax", func(db *gorm.DB, _ author) error {
		return db.Exec("SELEKT 1").Error
	}, xerror.DatabaseError, nil, ""},
	{"unknown table", func(db *gorm.DB, _ author) error {
		return db.Exec("DELETE FROM no_such_table").Error
	}, xerror.DatabaseError, nil, ""},
	{"unknown column", func(db *gorm.DB, _ author) error {
		return db.Model(&author{}).Where("no_such_column = ?", 1).Update("age", 2).Error
	}, xerror.DatabaseError, nil, ""},
}

func testCodes(tb testing.TB, s *suite) {
	db := s.open(tb, &author{}, &book{})
	a := author{Name: secretValue}
	check(tb, db.Create(&a).Error, "create")
	for _, v := range violations {
		err := v.do(db, a)
		if v.difference != "" && s.differs(v.difference) {
			if err != nil {
				tb.Errorf("%s: %v, although the harness declares %s", v.name, err, v.difference)
			}
			continue
		}
		if err == nil {
			tb.Errorf("%s: no error", v.name)
			continue
		}
		if got := codeOf(err); got != v.code {
			tb.Errorf("%s: code = %v, want %v (%T: %v)", v.name, got, v.code, err, err)
		}
		if v.sentinel != nil && !errors.Is(err, v.sentinel) {
			tb.Errorf("%s: the error is not %q of gorm", v.name, v.sentinel)
		}
	}
}

func testErrorText(tb testing.TB, s *suite) {
	db := s.open(tb, &author{}, &book{})
	a := author{Name: secretValue}
	check(tb, db.Create(&a).Error, "create")
	s.log.Reset()
	for _, v := range violations {
		if err := v.do(db, a); err != nil && strings.Contains(err.Error(), secretValue) {
			tb.Errorf("%s: the error contains the value: %v", v.name, err)
		}
	}
	err := db.Exec("SELEKT '" + secretValue + "'").Error
	if err == nil || strings.Contains(err.Error(), secretValue) {
		tb.Errorf("the error of an invalid statement contains its literal: %v", err)
	}
	if strings.Contains(s.log.String(), secretValue) {
		tb.Error("the log contains the value")
	}
}

// testErrorMethods runs an invalid statement with the gorm methods that execute one.
func testErrorMethods(tb testing.TB, s *suite) {
	db := s.open(tb, &author{})
	sql := "SELECT no_such_column FROM " + s.prefix + "authors WHERE name = '" + secretValue + "'"
	rows := func(tx *gorm.DB) error {
		rows, err := tx.Rows()
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			continue
		}
		return rows.Err()
	}
	methods := map[string]func() error{
		"Exec":     func() error { return db.Exec(sql).Error },
		"Raw.Scan": func() error { return db.Raw(sql).Scan(new(string)).Error },
		"Raw.Find": func() error { return db.Raw(sql).Find(&[]author{}).Error },
		"Raw.Rows": func() error { return rows(db.Raw(sql)) },
		"Find": func() error {
			return db.Where("no_such_column = ?", secretValue).Find(&[]author{}).Error
		},
		"Model.Scan": func() error {
			return db.Model(&author{}).Where("no_such_column = ?", secretValue).
				Scan(&[]author{}).Error
		},
		"Model.Rows": func() error {
			return rows(db.Model(&author{}).Where("no_such_column = ?", secretValue))
		},
		"Pluck": func() error {
			return db.Model(&author{}).Pluck("no_such_column", &[]string{}).Error
		},
		"Count": func() error {
			return db.Model(&author{}).Where("no_such_column = ?", secretValue).
				Count(new(int64)).Error
		},
	}
	for name, do := range methods {
		err := do()
		if err == nil {
			tb.Errorf("%s: no error", name)
			continue
		}
		kind := driver.KindOf(err)
		if kind != driver.Syntax || codeOf(err) != xerror.DatabaseError {
			tb.Errorf("%s: kind = %v, code = %v, want %v and %v (%T)",
				name, kind, codeOf(err), driver.Syntax, xerror.DatabaseError, err)
		}
		if strings.Contains(err.Error(), secretValue) {
			tb.Errorf("%s: the error contains a value: %v", name, err)
		}
	}
}

func testNotFound(tb testing.TB, s *suite) {
	db := s.open(tb, &author{}, &book{})
	s.log.Reset()
	err := db.First(&author{}, 1).Error
	if !errors.Is(err, gorm.ErrRecordNotFound) || codeOf(err) != xerror.RecordNotFound {
		tb.Errorf("error = %v with code %v, want RecordNotFound", err, codeOf(err))
	}
	if n := s.log.count(`"level":"error"`); n != 0 {
		tb.Errorf("error lines = %d, want 0:\n%s", n, s.log)
	}
}

// wantPrompt runs do, whose context ends after cancelAfter. It reports an error if do
// returns more than a second later or does not return want.
func wantPrompt(tb testing.TB, what string, want error, do func() error) {
	start := time.Now()
	err := do()
	if elapsed := time.Since(start); elapsed > cancelAfter+time.Second {
		tb.Errorf("%s returned after %s, want it within 1 s of %s", what, elapsed, cancelAfter)
	}
	if !errors.Is(err, want) {
		tb.Errorf("%s: error = %v (%T), want %v", what, err, err, want)
	}
}

// slowCalls returns calls of gorm that run the slow statement.
func (s *suite) slowCalls(db *gorm.DB) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Raw.Scan": func(ctx context.Context) error {
			var n int64
			return db.WithContext(ctx).Raw(s.Slow).Scan(&n).Error
		},
		"Exec": func(ctx context.Context) error { return db.WithContext(ctx).Exec(s.Slow).Error },
		"Rows": func(ctx context.Context) error {
			rows, err := db.WithContext(ctx).Raw(s.Slow).Rows()
			if err != nil {
				return err
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() {
				continue
			}
			return rows.Err()
		},
		"within a transaction": func(ctx context.Context) error {
			return db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
				var n int64
				return tx.Raw(s.Slow).Scan(&n).Error
			})
		},
	}
}

// cancelAfter is the delay after which a context ends.
const cancelAfter = 150 * time.Millisecond

func testCancel(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	for name, run := range s.slowCalls(db) {
		wantPrompt(tb, name, context.Canceled, func() error {
			ctx, cancel := context.WithCancel(s.ctx)
			defer time.AfterFunc(cancelAfter, cancel).Stop()
			defer cancel()
			return run(ctx)
		})
	}
	s.wantUsable(tb, db)
}

func testDeadline(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	for name, run := range s.slowCalls(db) {
		wantPrompt(tb, name, context.DeadlineExceeded, func() error {
			ctx, cancel := context.WithTimeout(s.ctx, cancelAfter)
			defer cancel()
			return run(ctx)
		})
	}
	s.wantUsable(tb, db)
}

func testLockDeadline(tb testing.TB, s *suite) {
	db := s.open(tb, &account{}, &note{})
	a := account{Balance: 1}
	check(tb, db.Create(&a).Error, "create")
	holder := db.Begin()
	check(tb, holder.Error, "begin")
	defer holder.Rollback()
	check(tb, holder.Model(&a).UpdateColumn("balance", 2).Error, "lock the row")
	wantPrompt(tb, "the second update", context.DeadlineExceeded, func() error {
		ctx, cancel := context.WithTimeout(s.ctx, cancelAfter)
		defer cancel()
		return db.WithContext(ctx).Model(&account{}).Where("id = ?", a.ID).
			UpdateColumn("balance", 3).Error
	})
	check(tb, holder.Commit().Error, "commit")
	var got account
	check(tb, db.First(&got, a.ID).Error, "read")
	if got.Balance != 2 {
		tb.Errorf("balance = %d, want 2: the canceled update must not be applied later",
			got.Balance)
	}
	s.wantUsable(tb, db)
}

// wantUsable reports an error unless db can write and read.
func (s *suite) wantUsable(tb testing.TB, db *gorm.DB) {
	n := note{Text: "usable"}
	check(tb, db.Create(&n).Error, "create afterwards")
	check(tb, db.First(&note{}, n.ID).Error, "read afterwards")
}

// testForeignErrors checks that network errors of other components, including functions
// that gorm calls, are not classified as database errors.
func testForeignErrors(tb testing.TB, s *suite) {
	db := s.openWith(tb, s.options(tb, &note{}))
	hooks := db.Callback().Create()
	var fault error
	check(tb, hooks.Before("gorm:create").Register("dbtest:fault",
		func(tx *gorm.DB) { _ = tx.AddError(fault) }), "register")
	for _, foreign := range []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE,
		&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET},
		&net.DNSError{Name: "other-host", IsNotFound: true},
	} {
		if kind := s.Driver.ErrorKind(foreign); kind != driver.Unknown {
			tb.Errorf("ErrorKind(%v) = %q, want %q", foreign, kind, driver.Unknown)
		}
		want := codeOf(foreign)
		fault = foreign
		if got := codeOf(create(db, "uncommitted")); got != want {
			tb.Errorf("code of %v in a callback = %v, want %v", foreign, got, want)
		}
		err := db.Transaction(func(*gorm.DB) error {
			return fmt.Errorf("another library: %w", foreign)
		})
		if got := codeOf(err); got != want {
			tb.Errorf("code of %v in a transaction = %v, want %v", foreign, got, want)
		}
	}
}
