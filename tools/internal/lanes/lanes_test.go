package lanes_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/tools/internal/lanes"
)

func TestEach(t *testing.T) {
	t.Run("returns errors in the order of the items", func(t *testing.T) {
		second := make(chan struct{})
		err := lanes.Each(2, []int{1, 2, 3, 4}, func(i int) error {
			switch i {
			case 1:
				<-second
			case 2:
				close(second)
			case 3:
				return nil
			}
			return fmt.Errorf("%d failed", i)
		})
		if want := "1 failed\n2 failed\n4 failed"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})

	t.Run("limits concurrency", func(t *testing.T) {
		const n = 3
		var mu sync.Mutex
		var running, most int
		full := make(chan struct{})
		err := lanes.Each(n, make([]struct{}, 20), func(struct{}) error {
			mu.Lock()
			running++
			most = max(most, running)
			if running == n {
				select {
				case <-full:
				default:
					close(full)
				}
			}
			mu.Unlock()
			<-full // so that all lanes are in use at least once
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		})
		if err != nil || most != n {
			t.Errorf("%d at the same time, want %d; %v", most, n, err)
		}
	})

	t.Run("accepts no items", func(t *testing.T) {
		if err := lanes.Each(2, nil, func(int) error { return errors.New("called") }); err != nil {
			t.Error(err)
		}
	})
}
