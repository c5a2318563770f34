package xhook_test

import (
	"sync"
	"testing"

	"github.com/plinthgo/plinth/core/major/xhook"
)

type valueKey struct{ name string }

func TestValueIsCreatedOnceForAllWhoAsk(t *testing.T) {
	life := xhook.New()
	created := 0
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			got := life.Value(valueKey{"one"}, func() any {
				created++
				life.OnStop("a hook", nil) // create may use the life
				return created
			})
			if got != 1 {
				t.Errorf("got %v, want 1", got)
			}
		})
	}
	all.Wait()
	if got := life.Value(valueKey{"other"}, func() any { return "another" }); got != "another" {
		t.Errorf("got %v, want another", got)
	}
}

func TestNilLifeKeepsNoValue(t *testing.T) {
	var life *xhook.Lifecycle
	for _, want := range []int{1, 2} {
		if got := life.Value(valueKey{}, func() any { return want }); got != want {
			t.Errorf("got %v, want %d", got, want)
		}
	}
}
