package xcache_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver/drivertest"
)

// traced is a store of bytes that records its callers.
type traced struct {
	*drivertest.MapStore
	stack []string
}

func (s *traced) Get(ctx context.Context, key string) ([]byte, bool, error) {
	s.stack = callers()
	return s.MapStore.Get(ctx, key)
}

// tracedObjects is an in-process store that records its callers.
type tracedObjects struct {
	*objectStore
	stack []string
}

func (s *tracedObjects) GetObject(ctx context.Context, key string) (*driver.Entry, bool, error) {
	s.stack = callers()
	return s.objectStore.GetObject(ctx, key)
}

// callers returns the functions of xcache on the stack, innermost first.
func callers() (names []string) {
	pc := make([]uintptr, 32)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	for {
		f, more := frames.Next()
		if !strings.Contains(f.Function, "/xcache.") {
			return names
		}
		names = append(names, f.Function[strings.LastIndex(f.Function, "/")+1:])
		if !more {
			return names
		}
	}
}

func TestKeyCache_Get_CallDepth(t *testing.T) {
	bytes := &traced{MapStore: drivertest.NewMapStore(nil)}
	objects := &tracedObjects{objectStore: newObjectStore()}
	for _, tc := range []struct {
		name  string
		store driver.Store
		stack *[]string
	}{
		{"bytes", bytes, &bytes.stack},
		{"objects", objects, &objects.stack},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := xcache.KeyCacheOf[string, int](managerOf(t, tc.store))
			if _, ok, err := c.Get(t.Context(), "k"); ok || err != nil {
				t.Fatalf("Get = %t, %v; want a miss", ok, err)
			}
			t.Logf("driver <- %s <- test", strings.Join(*tc.stack, " <- "))
			if got := len(*tc.stack); got != 2 {
				t.Errorf("%d functions call the driver, want 2: %q", got, *tc.stack)
			}
		})
	}
}
