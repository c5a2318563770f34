package memory_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/leasetest"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

func TestStore_LeaseBackend(t *testing.T) {
	t.Run("passes the lease conformance suite", func(t *testing.T) {
		s := openStore(t, driver.Config{})
		leasetest.Run(t, leasetest.Harness{
			Open: func(testing.TB) leasedriver.Backend {
				return s.(driver.Leaser).LeaseBackend("app:")
			},
			Source: "in process", Server: "a map",
		})
	})

	t.Run("does not count leases as entries", func(t *testing.T) {
		m := open(t, entries(1))
		for i := range 20 { // far more than the bound
			if _, err := m.Lease(t.Context(), "job-"+strconv.Itoa(i), time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		one := 1
		c := xcache.KeyCacheOf[string, int](m)
		for i := range 20 {
			if err := c.Set(t.Context(), strconv.Itoa(i), &one); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 20 {
			if lease, err := m.Lease(t.Context(), "job-"+strconv.Itoa(i), time.Minute); err == nil {
				t.Fatalf("%s was evicted", lease.Name())
			}
		}
		for key, err := range c.Keys(t.Context()) {
			if err != nil || len(key) > 2 {
				t.Errorf("key %q, %v; want entries only", key, err)
			}
		}
	})
}
