package cachetest_test

import (
	"context"
	"time"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// noopDefect is a store that implements everything and does nothing.
const noopDefect = "no-op"

type noopStore struct{}

func (noopStore) Ping(context.Context) (err error)                                       { return }
func (noopStore) Close() (err error)                                                     { return }
func (noopStore) Get(context.Context, string) (v []byte, ok bool, err error)             { return }
func (noopStore) Delete(context.Context, ...string) (n int, err error)                   { return }
func (noopStore) Exists(context.Context, string) (ok bool, err error)                    { return }
func (noopStore) TTL(context.Context, string) (d time.Duration, ok bool, err error)      { return }
func (noopStore) Set(context.Context, string, []byte, driver.Write) (ok bool, err error) { return }

func (noopStore) HashGet(context.Context, string, string) (v []byte, ok bool, err error) { return }
func (noopStore) HashGetAll(context.Context, string) (f []driver.Field, err error)       { return }
func (noopStore) HashExists(context.Context, string, string) (ok bool, err error)        { return }
func (noopStore) HashRemove(context.Context, string, ...string) (n int, err error)       { return }
func (noopStore) HashSet(
	context.Context, string, []driver.Field, []string, driver.Write,
) (ok bool, err error) {
	return
}

func (noopStore) SetAdd(
	context.Context, string, [][]byte, driver.Write,
) (n int, ok bool, err error) {
	return
}
func (noopStore) SetMembers(context.Context, string) (m [][]byte, err error)       { return }
func (noopStore) SetContains(context.Context, string, []byte) (ok bool, err error) { return }
func (noopStore) SetCount(context.Context, string) (n int, err error)              { return }
func (noopStore) SetRemove(context.Context, string, ...[]byte) (n int, err error)  { return }

func (noopStore) ListPush(
	context.Context, string, driver.End, [][]byte, driver.Write,
) (n int, ok bool, err error) {
	return
}

func (noopStore) ListRange(context.Context, string, int, int) (l [][]byte, err error) { return }

func (noopStore) ListIndex(context.Context, string, int) (v []byte, ok bool, err error) { return }

func (noopStore) ListLen(context.Context, string) (n int, err error) { return }

func (noopStore) ListPop(
	context.Context, string, driver.End,
) (v []byte, ok bool, err error) {
	return
}

func (noopStore) ListRemove(context.Context, string, int, []byte) (n int, err error) { return }

func (noopStore) GetMany(context.Context, []string) (v [][]byte, err error)     { return }
func (noopStore) SetMany(context.Context, []driver.Item) (err error)            { return }
func (noopStore) Scan(context.Context, string, func([]string) bool) (err error) { return }

func (noopStore) LeaseBackend(string) leasedriver.Backend { return noopLeases{} }

type noopLeases struct{}

// Acquire grants every request.
func (noopLeases) Acquire(context.Context, leasedriver.Request) (leasedriver.Grant, error) {
	return leasedriver.Grant{OK: true}, nil
}

func (noopLeases) Renew(context.Context, leasedriver.Holding) (held bool, err error) { return }

func (noopLeases) Release(context.Context, leasedriver.Holding) (bool, error) { return true, nil }

func (noopLeases) Capabilities() (t leasedriver.Capabilities) { return }
