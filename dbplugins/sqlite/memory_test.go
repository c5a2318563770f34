package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// inMemory returns the options of a private in-memory database.
func inMemory() xdb.Options {
	return xdb.Options{Parts: driver.Config{Source: xenv.Map{"DATABASE_PATH": ":memory:"}}}
}

func TestMemory(t *testing.T) {
	t.Run("is shared by the connections of a pool", func(t *testing.T) {
		o := inMemory()
		o.MaxOpenConns = 10
		o.ConnMaxIdleTime, o.ConnMaxLifetime = time.Nanosecond, time.Microsecond
		db, other := open(t, o), open(t, o)
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				if err := db.Create(&row{ID: int64(i)}).Error; err != nil {
					t.Error(err)
				}
				if err := db.First(&row{}, i).Error; err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		var n, others int64
		if err := errors.Join(db.Model(&row{}).Count(&n).Error,
			other.Model(&row{}).Count(&others).Error); err != nil {
			t.Fatal(err)
		}
		if n != 100 || others != 0 {
			t.Errorf("rows = %d and %d in another pool, want 100 and 0", n, others)
		}
	})

	t.Run("makes a reader wait for a writer", func(t *testing.T) {
		db := open(t, inMemory())
		holder := db.Begin()
		if err := holder.Create(&row{ID: 1}).Error; err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		start := time.Now()
		var n int64
		err := db.WithContext(ctx).Model(&row{}).Count(&n).Error
		if elapsed := time.Since(start); !errors.Is(err, context.DeadlineExceeded) ||
			elapsed > 4*time.Second {
			t.Errorf("count = %v after %s, want DeadlineExceeded after 50 ms", err, elapsed)
		}
		got := make(chan int64)
		go func() {
			var n int64
			if err := db.Model(&row{}).Count(&n).Error; err != nil {
				t.Error(err)
			}
			got <- n
		}()
		if err := holder.Commit().Error; err != nil {
			t.Fatal(err)
		}
		if n := <-got; n != 1 {
			t.Errorf("rows = %d, want 1", n)
		}
	})

	t.Run("makes a ping wait for a writer", func(t *testing.T) {
		db := open(t, inMemory())
		pool, err := db.DB()
		if err != nil {
			t.Fatal(err)
		}
		holder := db.Begin() // uses the only connection; the pings open new ones
		done := make(chan error, 1)
		go func() { done <- pool.PingContext(t.Context()) }()
		select {
		case err := <-done:
			t.Errorf("the ping did not wait: %v", err)
			done <- err
		case <-time.After(50 * time.Millisecond):
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if err := pool.PingContext(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ping = %v, want DeadlineExceeded", err)
		}
		if err := holder.Commit().Error; err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("ping = %v", err)
		}
	})

	t.Run("makes a writer wait for readers", func(t *testing.T) {
		db := open(t, inMemory())
		if err := db.Create([]row{{ID: 1}, {ID: 2}}).Error; err != nil {
			t.Fatal(err)
		}
		reader := db.Begin(&sql.TxOptions{ReadOnly: true})
		if err := reader.First(&row{}).Error; err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- db.Create(&row{ID: 3}).Error }()
		select {
		case err := <-done:
			t.Errorf("the write did not wait: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
		if err := reader.Commit().Error; err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Errorf("create = %v", err)
		}
	})
}
