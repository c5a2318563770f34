package cachetest_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// outageDefects are defects of the connection to a server.
var outageDefects = map[string]defect{
	"outage looks like a miss": {func(b *broken) {
		b.outage = func(ctx context.Context, r *remote) error {
			_ = r.roundTrip(ctx)
			return ctx.Err()
		}
	}, "Outage/Timeouts, Outage/RecoveryUnderLoad, Outage/NetworkRecovery"},
	"outage looks like an ended context": {func(b *broken) {
		b.outage = func(ctx context.Context, r *remote) error {
			if r.roundTrip(ctx) != nil {
				return context.DeadlineExceeded
			}
			return nil
		}
	}, "Outage/Timeouts"},
	"outage blocks": {func(b *broken) {
		b.outage = func(ctx context.Context, r *remote) error {
			for end := time.Now().Add(5 * time.Second); ; {
				err := r.roundTrip(ctx)
				if err == nil || ctx.Err() != nil || time.Now().After(end) {
					return err
				}
				<-time.After(50 * time.Millisecond)
			}
		}
	}, "Outage/Timeouts, Outage/BrokenConnection"},
	"outage looks like a wrong type": {func(b *broken) {
		b.outage = func(ctx context.Context, r *remote) error {
			if r.roundTrip(ctx) != nil {
				return driver.ErrWrongType
			}
			return nil
		}
	}, "Outage/FailOpen"},
	"deadline is ignored": {func(b *broken) {
		b.outage = func(ctx context.Context, r *remote) error {
			fixed, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
			defer cancel()
			for {
				if err := r.roundTrip(fixed); err == nil || fixed.Err() != nil {
					return storeError(ctx, err)
				}
				<-time.After(50 * time.Millisecond)
			}
		}
	}, "Outage/UnresponsiveServer, Outage/Timeouts"},
	"store never recovers": {func(b *broken) {
		var failed atomic.Bool
		b.outage = func(ctx context.Context, r *remote) error {
			if failed.Load() {
				return errors.New("no server")
			}
			err := r.roundTrip(ctx)
			if err != nil && ctx.Err() == nil {
				failed.Store(true)
			}
			return err
		}
	}, "Outage/RecoveryUnderLoad, Outage/NetworkRecovery"},
	"broken connection blocks": {func(b *broken) {
		b.outage = func(ctx context.Context, r *remote) error {
			conn, err := net.DialTimeout("tcp", r.address, time.Second)
			if err != nil {
				return storeError(ctx, err)
			}
			defer func() { _ = conn.Close() }()
			limited, cancel := context.WithTimeout(ctx, 8*time.Second)
			defer cancel()
			if _, err := r.exchange(limited, conn); err != nil {
				<-limited.Done()
				return storeError(ctx, err)
			}
			return nil
		}
	}, "Outage/BrokenConnection"},
}
