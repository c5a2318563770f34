//go:build unix

package xsnowflake_test

import (
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
)

const perMilli = 1024 // the limit of the default layout

// tries is how often a figure may fail: other programs share the machine.
const tries = 8

func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rate makes ids of one gene for the given time and returns the share of the limit that was reached, and
// the CPU time for each millisecond's worth of ids.
func rate(tb testing.TB, n *xSnowflake.Node, workers int, d time.Duration) (share float64, each time.Duration) {
	tb.Helper()
	var count atomic.Int64
	var wg sync.WaitGroup
	used, begin := cpu(tb), time.Now()
	for range workers {
		wg.Go(func() {
			made := int64(0)
			for time.Since(begin) < d {
				for range 64 {
					if _, err := n.Generate(xSnowflake.GeneOrder); err != nil {
						tb.Error(err)
						return
					}
					made++
				}
			}
			count.Add(made)
		})
	}
	wg.Wait()
	millis := float64(count.Load()) / perMilli
	share = millis / (time.Since(begin).Seconds() * 1e3)
	return share, time.Duration(float64(cpu(tb)-used) / millis)
}

// spin is a generator that waits for the next millisecond in a loop, with the lock held.
type spin struct {
	mu      sync.Mutex
	ms, seq int64
}

func (s *spin) next() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now().UnixMilli()
	if now > s.ms {
		s.ms, s.seq = now, 0
	}
	for s.seq == perMilli {
		if now = time.Now().UnixMilli(); now > s.ms {
			s.ms, s.seq = now, 0
		}
	}
	s.seq++
	return s.ms<<22 | s.seq
}

func spinning(tb testing.TB, d time.Duration) time.Duration {
	tb.Helper()
	var s spin
	made := 0
	used, begin := cpu(tb), time.Now()
	for time.Since(begin) < d {
		for range 64 {
			s.next()
		}
		made += 64
	}
	return time.Duration(float64(cpu(tb)-used) / float64(made) * perMilli)
}

func TestOneGeneReachesTheLimitOfTheLayout(t *testing.T) {
	if raceDetector || testing.Short() {
		t.Skip("a figure of speed")
	}
	for _, workers := range []int{1, 8} {
		best := 0.0
		for range tries {
			n := newNode(t)
			share, _ := rate(t, n, workers, 200*time.Millisecond)
			if best = max(best, share); best >= 0.995 {
				break
			}
		}
		t.Logf("%d goroutines: %.2f %% of the limit", workers, best*100)
		if best < 0.995 {
			t.Errorf("%d goroutines reached %.2f %% of the limit, want 99.5", workers, best*100)
		}
	}
}

func TestWaitingCostsAFractionOfSpinning(t *testing.T) {
	if raceDetector || testing.Short() {
		t.Skip("a figure of speed")
	}
	for _, workers := range []int{1, 8} {
		best := 1.0
		for range tries {
			base := spinning(t, 100*time.Millisecond)
			_, each := rate(t, newNode(t), workers, 100*time.Millisecond)
			if best = min(best, float64(each)/float64(base)); best <= 0.3 {
				break
			}
		}
		t.Logf("%d goroutines: %.2f of the CPU of a spinning generator", workers, best)
		if best > 0.3 {
			t.Errorf("%d goroutines took %.2f of the CPU of a spinning generator, want at most 0.3", workers, best)
		}
	}
}

// BenchmarkOneGene is about the limit and the CPU, not about the time of one call.
func BenchmarkOneGene(b *testing.B) {
	for name, workers := range map[string]int{"1 goroutine": 1, "8 goroutines": 8} {
		b.Run(name, func(b *testing.B) {
			n := newNode(b)
			for b.Loop() {
				base := spinning(b, 100*time.Millisecond)
				share, each := rate(b, n, workers, time.Second)
				b.ReportMetric(share*100, "%limit")
				b.ReportMetric(float64(each)/float64(base), "cpu/spinning")
			}
		})
	}
}
