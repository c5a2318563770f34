package cachetest_test

import (
	"context"
	"time"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// nothingAtAll is the defect of a store that can do everything and does nothing.
const nothingAtAll = "nothing at all"

type nothing struct{}

func (nothing) Ping(context.Context) error { return nil }

func (nothing) Close() error {
	return nil
}
func (nothing) Get(context.Context, string) (v []byte, ok bool, err error)             { return }
func (nothing) Delete(context.Context, ...string) (n int, err error)                   { return }
func (nothing) Exists(context.Context, string) (ok bool, err error)                    { return }
func (nothing) TTL(context.Context, string) (d time.Duration, ok bool, err error)      { return }
func (nothing) Set(context.Context, string, []byte, driver.Write) (ok bool, err error) { return }

func (nothing) HashGet(context.Context, string, string) (v []byte, ok bool, err error) { return }
func (nothing) HashGetAll(context.Context, string) (f []driver.Field, err error)       { return }
func (nothing) HashExists(context.Context, string, string) (ok bool, err error)        { return }
func (nothing) HashRemove(context.Context, string, ...string) (n int, err error)       { return }
func (nothing) HashSet(
	context.Context, string, []driver.Field, []string, driver.Write,
) (ok bool, err error) {
	return
}

func (nothing) SetAdd(context.Context, string, [][]byte, driver.Write) (n int, ok bool, err error) {
	return
}
func (nothing) SetMembers(context.Context, string) (m [][]byte, err error)       { return }
func (nothing) SetContains(context.Context, string, []byte) (ok bool, err error) { return }
func (nothing) SetCount(context.Context, string) (n int, err error)              { return }
func (nothing) SetRemove(context.Context, string, ...[]byte) (n int, err error)  { return }

func (nothing) ListPush(
	context.Context, string, driver.End, [][]byte, driver.Write,
) (n int, ok bool, err error) {
	return
}

func (nothing) ListRange(context.Context, string, int, int) (l [][]byte, err error) { return }

func (nothing) ListIndex(context.Context, string, int) (v []byte, ok bool, err error) { return }

func (nothing) ListLen(context.Context, string) (n int, err error) { return }

func (nothing) ListPop(context.Context, string, driver.End) (v []byte, ok bool,
	err error,
) {
	return
}

func (nothing) ListRemove(context.Context, string, int, []byte) (n int, err error) { return }

func (nothing) GetMany(context.Context, []string) (v [][]byte, err error)     { return }
func (nothing) SetMany(context.Context, []driver.Item) (err error)            { return }
func (nothing) Scan(context.Context, string, func([]string) bool) (err error) { return }
func (nothing) LeaseBackend(string) leasedriver.Backend                       { return noLeases{} }

type noLeases struct{}

// Acquire says yes to everybody.
func (noLeases) Acquire(context.Context, leasedriver.Request) (leasedriver.Grant, error) {
	return leasedriver.Grant{OK: true}, nil
}

func (noLeases) Renew(context.Context, leasedriver.Holding) (held bool, err error) { return }
func (noLeases) Release(context.Context, leasedriver.Holding) (bool, error) {
	return true, nil
}
func (noLeases) Capabilities() (t leasedriver.Capabilities) { return }
