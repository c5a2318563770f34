package snippets_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

// xleaseContext returns a context with the leases of this process.
func xleaseContext(t *testing.T) (context.Context, *xlease.Leases) {
	t.Helper()
	leases := xlease.New(xlease.InProcess(nil))
	t.Cleanup(func() { _ = leases.Close() })
	return context.WithValue(xhelperQuiet(), xctx.LeasesKey, leases), leases
}

// sendReport sends the report unless another replica sends it.
func sendReport(ctx context.Context, send func(ctx context.Context) error) error {
	leases := xlease.MustGetLeases(ctx)

	err := leases.Do(ctx, "nightly-report",
		30*time.Second, func(ctx context.Context, _ *xlease.Lease) error {
			return send(ctx) // ctx is canceled when the lease is lost
		})
	if errors.Is(err, xlease.ErrHeld) {
		return nil // another replica sends the report
	}
	return err
}

// holdReport calls work while it holds the lease.
func holdReport(ctx context.Context, leases *xlease.Leases, work func() error) error {
	lease, err := leases.Lease(ctx, "nightly-report", 30*time.Second)
	if err != nil {
		return err
	}
	defer lease.Release(ctx) //nolint:errcheck // the record expires

	return work()
}

func TestXLease_Do(t *testing.T) {
	t.Parallel()
	ctx, leases := xleaseContext(t)
	sent := 0
	send := func(ctx context.Context) error {
		sent++
		return ctx.Err()
	}
	if err := sendReport(ctx, send); err != nil || sent != 1 {
		t.Errorf("sendReport = %v, sent %d times; want once", err, sent)
	}
	err := holdReport(ctx, leases, func() error { return sendReport(ctx, send) })
	if err != nil || sent != 1 {
		t.Errorf("while another caller holds the lease: %v, sent %d times; want nil and 1", err, sent)
	}
	if err := sendReport(ctx, send); err != nil || sent != 2 {
		t.Errorf("after the release: %v, sent %d times; want twice", err, sent)
	}
}

func TestXLease_Slots(t *testing.T) {
	t.Parallel()
	ctx, leases := xleaseContext(t)
	slots := map[int]bool{}
	for range 3 {
		lease, err := leases.Lease(ctx, "export",
			time.Minute, xlease.WithSlots(0, 3), xlease.WithWait())
		if err != nil {
			t.Fatal(err)
		}
		slots[lease.Slot()] = true
	}
	if !slots[0] || !slots[1] || !slots[2] {
		t.Errorf("slots = %v, want 0, 1 and 2", slots)
	}
}

// setPosition stores the position in a stream for the latest holder only.
func setPosition(
	ctx context.Context, db *gorm.DB, lease *xlease.Lease, stream string, offset int64,
) error {
	// The column token of positions is initially 0.
	result := db.WithContext(ctx).Exec(
		"UPDATE positions SET offset_at = ?, token = ? WHERE stream = ? AND token <= ?",
		offset, lease.Token(), stream, lease.Token())
	if result.Error == nil && result.RowsAffected == 0 {
		return xlease.ErrLost // a holder with a later token has written
	}
	return result.Error
}

func TestXLease_Token(t *testing.T) {
	t.Parallel()
	ctx, leases := xleaseContext(t)
	db, err := xdb.Open(ctx, xdb.Options{
		Driver: "sqlite",
		Parts:  driver.Config{Source: xenv.Map{"DATABASE_PATH": ":memory:"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = xdb.Close(db) }()
	for _, statement := range []string{
		"CREATE TABLE positions (stream TEXT, offset_at INTEGER, token INTEGER)",
		"INSERT INTO positions VALUES ('orders', 0, 0)",
	} {
		if err := db.Exec(statement).Error; err != nil {
			t.Fatal(err)
		}
	}
	var held []*xlease.Lease
	for range 2 {
		lease, err := leases.Lease(ctx, "orders", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, lease)
		if err := lease.Release(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := setPosition(ctx, db, held[1], "orders", 7); err != nil {
		t.Errorf("second holder: %v", err)
	}
	if err := setPosition(ctx, db, held[0], "orders", 5); !errors.Is(err, xlease.ErrLost) {
		t.Errorf("first holder: %v, want ErrLost", err)
	}
}
