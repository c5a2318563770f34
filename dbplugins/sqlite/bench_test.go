package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

// user is the entity of the insert benchmarks in performance.md.
type user struct {
	xmodels.BaseEntity
	Username string `gorm:"size:64"`
	Email    string `gorm:"size:128"`
	Age      int
}

// inserter inserts one row per call.
type inserter struct {
	name string
	do   func(i int) error
}

// bySQL inserts through database/sql and the library without Plinth.
func bySQL(ctx context.Context, b *testing.B) inserter {
	b.Helper()
	path := filepath.Join(b.TempDir(), "sql.db")
	dsn, err := sqlite.Driver{}.DSN(driver.Config{Source: xenv.Map{"DATABASE_PATH": path}})
	if err != nil {
		b.Fatal(err)
	}
	openBench(ctx, b, path, false) // creates the table
	pool, err := sql.Open("sqlite", dsn)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = pool.Close() })
	node := nodeOf(ctx, b)
	const statement = "INSERT INTO `users` (`id`,`created_at`,`updated_at`,`username`,`email`,`age`) VALUES (?,?,?,?,?,?)"
	return inserter{"database/sql", func(i int) error {
		now, id := time.Now().UTC(), node.MustGenerate()
		_, err := pool.ExecContext(ctx, statement,
			int64(id), now, now, "name", "name@example.org", i)
		return err
	}}
}

// byPlinth inserts through xdb.
func byPlinth(ctx context.Context, tb testing.TB, name string, skipTransaction bool) inserter {
	tb.Helper()
	db := openBench(ctx, tb, filepath.Join(tb.TempDir(), "plinth.db"), skipTransaction)
	return inserter{name, func(i int) error {
		return db.Create(&user{Username: "name", Email: "name@example.org", Age: i}).Error
	}}
}

func openBench(ctx context.Context, tb testing.TB, path string, skipTransaction bool) *gorm.DB {
	tb.Helper()
	db, err := xdb.Open(ctx, xdb.Options{
		Driver: sqlite.Name, Parts: driver.Config{Source: xenv.Map{"DATABASE_PATH": path}},
		SkipDefaultTransaction: skipTransaction,
		AutoMigrate:            []any{&user{}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = xdb.Close(db) })
	return db.WithContext(ctx)
}

// withNode returns a cancelable context with an ID node and a silent logger.
func withNode(tb testing.TB) context.Context {
	tb.Helper()
	node, nodeErr := xsnowflake.NewNode()
	quiet, logErr := xlog.New(xlog.Config{Level: slog.LevelWarn, Writer: io.Discard})
	if err := errors.Join(nodeErr, logErr); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _, _ = node.Close(), quiet.Close() })
	ctx, cancel := context.WithCancel(tb.Context()) // cancelable, as in a request
	tb.Cleanup(cancel)
	return context.WithValue(xlog.NewContext(ctx, quiet), xctx.SnowflakeNodeKey, node)
}

func nodeOf(ctx context.Context, tb testing.TB) *xsnowflake.Node {
	tb.Helper()
	node, err := xsnowflake.GetNode(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	return node
}

// BenchmarkInsert reports the time per inserted row for database/sql, the defaults and
// WithSkipDefaultTransaction, and the ratios. Each is the median of rounds of 1000 rows.
// The targets in performance.md are 2.0 and 1.3.
func BenchmarkInsert(b *testing.B) {
	ctx := withNode(b)
	inserters := []inserter{
		bySQL(ctx, b),
		byPlinth(ctx, b, "plinth", false),
		byPlinth(ctx, b, "plinth, no default transaction", true),
	}
	const round = 1000 // rows; enough to include checkpoints of the WAL
	durations := make([][]time.Duration, len(inserters))
	n := 0
	for b.Loop() { // alternate, so that other load affects all inserters
		for i, in := range inserters {
			start := time.Now()
			if err := in.do(n); err != nil {
				b.Fatal(err)
			}
			if n%round == 0 {
				durations[i] = append(durations[i], 0)
			}
			durations[i][n/round] += time.Since(start)
		}
		n++
	}
	baseline := median(durations[0])
	for i, in := range inserters {
		m := median(durations[i])
		b.Logf("%-32s %8.1f µs a row, %.2f of database/sql",
			in.name, float64(m.Nanoseconds())/1e3/round, float64(m)/float64(baseline))
	}
}

// median ignores the last round, which is incomplete.
func median(rounds []time.Duration) time.Duration {
	if len(rounds) > 1 {
		rounds = rounds[:len(rounds)-1]
	}
	slices.Sort(rounds)
	return rounds[len(rounds)/2]
}

// BenchmarkBatch reports the time per row for several batch sizes.
func BenchmarkBatch(b *testing.B) {
	ctx := withNode(b)
	db := openBench(ctx, b, filepath.Join(b.TempDir(), "batch.db"), false)
	for _, size := range []int{10, 100, 1000, 10000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			rows := make([]user, 0, size)
			for b.Loop() {
				rows = rows[:0]
				for i := range size {
					rows = append(rows, user{Username: "name", Email: "name@example.org", Age: i})
				}
				if err := db.Create(&rows).Error; err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*size), "µs/row")
		})
	}
}
