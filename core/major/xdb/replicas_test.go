package xdb_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// ignoreNotFound returns nil for a read that found no row.
func ignoreNotFound(err error) error {
	if errors.Is(err, gorm.ErrRecordNotFound) || errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// rows closes the rows of a query and returns its error.
func rows(r *sql.Rows, err error) error {
	if err == nil {
		err = errors.Join(r.Err(), r.Close())
	}
	return err
}

func TestReplica_Routing(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(db *gorm.DB) error
		want string
	}{
		{
			name: "First", do: func(db *gorm.DB) error {
				return ignoreNotFound(db.First(&article{}).Error)
			},
			want: "replica",
		},
		{
			name: "Find", do: func(db *gorm.DB) error { return db.Find(&[]article{}).Error },
			want: "replica",
		},
		{name: "Pluck", do: func(db *gorm.DB) error {
			return db.Model(&article{}).Pluck("name", &[]string{}).Error
		}, want: "replica"},
		{name: "Scan", do: func(db *gorm.DB) error {
			return db.Model(&article{}).Scan(&[]article{}).Error
		}, want: "replica"},
		{
			name: "Rows", do: func(db *gorm.DB) error { return rows(db.Model(&article{}).Rows()) },
			want: "replica",
		},
		{name: "Row", do: func(db *gorm.DB) error {
			return ignoreNotFound(db.Model(&article{}).Row().Scan(new(int)))
		}, want: "replica"},
		{name: "Raw select", do: func(db *gorm.DB) error {
			return db.Raw("SELECT 1").Scan(new(int)).Error
		}, want: "replica"},
		{name: "Raw select by Rows", do: func(db *gorm.DB) error {
			return rows(db.Raw("SELECT 1").Rows())
		}, want: "replica"},
		{name: "a chain after a read", do: func(db *gorm.DB) error {
			chain := db.Model(&article{}).Where("id = ?", 1)
			return chain.Find(&[]article{}).Error
		}, want: "replica"},
		{
			name: "Create", do: func(db *gorm.DB) error { return db.Create(&article{ID: 1}).Error },
			want: "primary",
		},
		{
			name: "Save", do: func(db *gorm.DB) error { return db.Save(&article{ID: 1}).Error },
			want: "primary",
		},
		{name: "Updates", do: func(db *gorm.DB) error {
			return db.Updates(&article{ID: 1, Name: "x"}).Error
		}, want: "primary"},
		{
			name: "Delete", do: func(db *gorm.DB) error { return db.Delete(&article{ID: 1}).Error },
			want: "primary",
		},
		{
			name: "Exec", do: func(db *gorm.DB) error { return db.Exec("SELECT 1").Error },
			want: "primary",
		},
		{name: "Raw insert", do: func(db *gorm.DB) error {
			return db.Raw("INSERT INTO articles VALUES (1) RETURNING id").Scan(new(int)).Error
		}, want: "primary"},
		{name: "Raw insert by Find", do: func(db *gorm.DB) error {
			return db.Raw("INSERT INTO articles VALUES (1) RETURNING id").Find(&[]article{}).Error
		}, want: "primary"},
		{name: "Raw locking read", do: func(db *gorm.DB) error {
			return db.Raw("SELECT * FROM articles FOR UPDATE SKIP LOCKED").Scan(&[]article{}).Error
		}, want: "primary"},
		{name: "locking read", do: func(db *gorm.DB) error {
			return db.Clauses(clause.Locking{Strength: "UPDATE"}).Find(&[]article{}).Error
		}, want: "primary"},
		{name: "locking read by Rows", do: func(db *gorm.DB) error {
			return rows(db.Model(&article{}).Clauses(clause.Locking{Strength: "SHARE"}).Rows())
		}, want: "primary"},
		{name: "a read with WithPrimary", do: func(db *gorm.DB) error {
			ctx := xdb.WithPrimary(xdb.WithPrimary(db.Statement.Context))
			return db.WithContext(ctx).Find(&[]article{}).Error
		}, want: "primary"},
		{name: "a transaction", do: func(db *gorm.DB) error {
			return db.Transaction(func(tx *gorm.DB) error { return tx.Find(&[]article{}).Error })
		}, want: "primary"},
		{name: "xdb.Transaction", do: func(db *gorm.DB) error {
			ctx := context.WithValue(db.Statement.Context, xctx.DatabaseKey, db)
			return xdb.Transaction(ctx, func(ctx context.Context) error {
				return xdb.MustGetDB(ctx).Find(&[]article{}).Error
			})
		}, want: "primary"},
		{name: "a single connection", do: func(db *gorm.DB) error {
			return db.Connection(func(tx *gorm.DB) error {
				return tx.Session(&gorm.Session{NewDB: true}).Find(&[]article{}).Error
			})
		}, want: "primary"},
		{name: "a chain after a write", do: func(db *gorm.DB) error {
			chain := db.Session(&gorm.Session{SkipDefaultTransaction: true}).
				Model(&article{}).Where("id = ?", 1)
			return errors.Join(chain.Update("name", "x").Error, chain.Find(&[]article{}).Error)
		}, want: "primary"},
	} {
		for _, prepared := range []bool{false, true} {
			name := tc.name
			if prepared {
				name += ", prepared"
			}
			t.Run(name, func(t *testing.T) {
				c := &cluster{}
				db := openCluster(t.Context(), t, c, func(o *xdb.Options) {
					o.Gorm = func(config *gorm.Config) { config.PrepareStmt = prepared }
				})
				primary, replicas := c.statements(func() {
					for range 2 {
						if err := tc.do(db); err != nil {
							t.Error(err)
						}
					}
				})
				got := "replica"
				if primary > 0 {
					got = "primary"
				}
				if got != tc.want || primary > 0 && replicas > 0 {
					t.Errorf("statements on the primary = %d, on replicas = %d; want all on the %s",
						primary, replicas, tc.want)
				}
			})
		}
	}
}

func TestReplica_Reads(t *testing.T) {
	t.Run("the result of a read is not bound to a replica", func(t *testing.T) {
		c := &cluster{}
		db := openCluster(t.Context(), t, c, nil)
		read := db.Find(&[]article{})
		primary, replicas := c.statements(func() {
			err := read.Session(&gorm.Session{NewDB: true}).Transaction(func(tx *gorm.DB) error {
				return tx.Exec("x").Error
			})
			if err != nil {
				t.Error(err)
			}
		})
		if primary != 1 || replicas != 0 {
			t.Errorf("statements = %d on the primary and %d on replicas, want 1 and 0",
				primary, replicas)
		}
	})

	t.Run("reads alternate between replicas", func(t *testing.T) {
		c := &cluster{}
		db := openCluster(t.Context(), t, c, nil)
		for range 10 {
			if err := db.Find(&[]article{}).Error; err != nil {
				t.Fatal(err)
			}
		}
		a, b := c.at(firstDSN).statements.Load(), c.at(secondDSN).statements.Load()
		if a != 5 || b != 5 {
			t.Errorf("reads = %d and %d, want 5 each", a, b)
		}
	})

	t.Run("statements are prepared once on each replica", func(t *testing.T) {
		c := &cluster{}
		db := openCluster(t.Context(), t, c, func(o *xdb.Options) {
			o.Gorm = func(config *gorm.Config) { config.PrepareStmt = true }
		})
		for range 10 {
			if err := db.Find(&[]article{}).Error; err != nil {
				t.Fatal(err)
			}
		}
		if a, b := c.at(firstDSN).prepared, c.at(secondDSN).prepared; a != 1 || b != 1 {
			t.Errorf("statements prepared = %d and %d, want 1 each", a, b)
		}
	})

	t.Run("hooks of a write read the primary", func(t *testing.T) {
		c := &cluster{}
		db := openCluster(t.Context(), t, c,
			func(o *xdb.Options) { o.SkipDefaultTransaction = true })
		primary, replicas := c.statements(func() {
			if err := db.Create(&hooked{ID: 1}).Error; err != nil {
				t.Error(err)
			}
		})
		if primary != 2 || replicas != 0 {
			t.Errorf("statements = %d on the primary and %d on replicas, want 2 and 0",
				primary, replicas)
		}
	})

	t.Run("Prepare functions read the primary", func(t *testing.T) {
		c := &cluster{}
		c.at(firstDSN).failWith.Store(&io.EOF)
		c.at(secondDSN).failWith.Store(&io.EOF)
		prepare := func(ctx context.Context, db *gorm.DB) error {
			return errors.Join(db.Find(&[]article{}).Error,
				db.WithContext(ctx).Find(&[]article{}).Error)
		}
		openCluster(t.Context(), t, c, func(o *xdb.Options) { o.Prepare = []xdb.Prepare{prepare} })
		if n := c.at(primaryDSN).statements.Load(); n != 2 {
			t.Errorf("reads on the primary = %d, want 2", n)
		}
	})
}

type hooked struct {
	ID int64 `gorm:"primaryKey;autoIncrement:false"`
}

func (*hooked) AfterCreate(tx *gorm.DB) error { return tx.Find(&[]article{}).Error }

func TestOpen_ReplicaSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, log := logged(t)
		c := &cluster{}
		const dsn = "fake://u:hunter2secret@first/app"
		c.at(dsn).connect = func(context.Context, int) error {
			return driver.Translate(driver.Connection, io.EOF,
				"no route to "+dsn+" with hunter2secret")
		}
		openCluster(ctx, t, c, func(o *xdb.Options) { o.Replicas = []xlog.Secret{dsn} })
		if text := log.String(); strings.Contains(text, "hunter2secret") ||
			!strings.Contains(text, "no route to ***") {
			t.Errorf("log = %s, want the error without secrets", text)
		}
	})
}

func TestResolve_Replicas(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options xdb.Options
		want    string
	}{
		{
			name:    "without a DSN",
			options: xdb.Options{Driver: "fake", Replicas: []xlog.Secret{firstDSN, " "}},
			want:    "xdb: replica 2: the DSN is empty",
		},
		{
			name: "with a dialector",
			options: xdb.Options{
				Dialector: (&fakeDriver{}).Dialector(""), Replicas: []xlog.Secret{firstDSN},
			},
			want: "xdb: Replicas need a Driver",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := registryOf(&fakeDriver{}).Resolve(tc.options); err == nil ||
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("Resolve = %v, want %q in it", err, tc.want)
			}
		})
	}
}

func TestDatabase_String(t *testing.T) {
	for _, tc := range []struct {
		name     string
		replicas []xlog.Secret
		want     string
	}{
		{name: "no replica", want: "fake primary/app"},
		{
			name: "one replica", replicas: []xlog.Secret{firstDSN},
			want: "fake primary/app, 1 replica",
		},
		{
			name: "two replicas", replicas: []xlog.Secret{firstDSN, secondDSN},
			want: "fake primary/app, 2 replicas",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := xdb.Options{Driver: "fake", DSN: primaryDSN, Replicas: tc.replicas}
			d, err := registryOf(&cluster{}).Resolve(o)
			if err != nil {
				t.Fatal(err)
			}
			if got := d.String(); got != tc.want {
				t.Errorf("String = %q, want %q", got, tc.want)
			}
		})
	}
}
