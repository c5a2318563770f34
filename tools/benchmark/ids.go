package main

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

// perMilli is the limit of one gene in the default layout.
const perMilli = 1024

func newNode() *xsnowflake.Node {
	return must(xsnowflake.NewNode(xsnowflake.WithNodeID(5), xsnowflake.WithDatacenterID(3)))
}

// ids compares an ID below the limit with a reading of the clock, which every ID
// requires.
func ids() []comparison {
	n, start := newNode(), time.Now()
	var g xsnowflake.Gene
	return []comparison{{
		name: "one id below the limit", peer: "time.Since",
		ours: benchCall(func() error {
			g = (g + 1) & 63
			_, err := n.Generate(g)
			return err
		}),
		theirs: benchCall(func() error {
			_ = time.Since(start)
			return nil
		}),
	}}
}

// idClaims returns the claims about rates and CPU time.
func idClaims() []claim {
	return []claim{
		{name: "one gene against the layout's limit (target 99.5 %) and a spinning generator's CPU (target 0.3)", show: oneGene},
		{name: "all genes (target 20 M ids/s on two processors)", show: allGenes},
	}
}

func oneGene() (string, error) {
	var parts []string
	for _, workers := range []int{1, 8} {
		n := newNode()
		base := benchSpinning(300 * time.Millisecond)
		share, each, err := rate(n, workers, time.Second)
		if err := firstError(err, n.Close()); err != nil {
			return "", err
		}
		parts = append(parts, fmt.Sprintf("%d goroutines %.2f %% with %.2f of the CPU",
			workers, share*100, float64(each)/float64(base)))
	}
	return strings.Join(parts, "; "), nil
}

// rate generates IDs of one gene for the duration d. It returns the share of the ID limit
// that it reached, and the CPU time for the IDs of one millisecond.
func rate(
	n *xsnowflake.Node, workers int, d time.Duration,
) (share float64, each time.Duration, err error) {
	var count atomic.Int64
	var failure atomic.Pointer[error]
	var wg sync.WaitGroup
	cpuBefore, start := cpu(), time.Now()
	for range workers {
		wg.Go(func() {
			for time.Since(start) < d {
				for range 64 {
					if _, err := n.Generate(xsnowflake.GeneOrder); err != nil {
						failure.Store(&err)
						return
					}
				}
				count.Add(64)
			}
		})
	}
	wg.Wait()
	if e := failure.Load(); e != nil {
		return 0, 0, *e
	}
	millis := float64(count.Load()) / perMilli
	return millis / (time.Since(start).Seconds() * 1e3),
		time.Duration(float64(cpu()-cpuBefore) / millis), nil
}

// benchSpinning measures a generator that polls the clock for the next millisecond. It
// returns the CPU time for the IDs of one millisecond.
func benchSpinning(d time.Duration) time.Duration {
	var last, sequence int64
	count := 0
	cpuBefore, start := cpu(), time.Now()
	for time.Since(start) < d {
		for sequence == perMilli && time.Now().UnixMilli() == last {
			continue
		}
		if now := time.Now().UnixMilli(); now > last {
			last, sequence = now, 0
		}
		sequence++
		count++
	}
	return time.Duration(float64(cpu()-cpuBefore) / float64(count) * perMilli)
}

func allGenes() (string, error) {
	n := newNode()
	var workers atomic.Uint32
	result := testing.Benchmark(func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			g := xsnowflake.Gene(workers.Add(1) * 32 & 63)
			for pb.Next() {
				if _, err := n.Generate(g); err != nil {
					b.Error(err)
				}
				g = (g + 1) & 63
			}
		})
	})
	return fmt.Sprintf("%.1f M ids/s", float64(result.N)/result.T.Seconds()/1e6), n.Close()
}
