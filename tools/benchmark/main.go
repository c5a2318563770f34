// Benchmark measures what Plinth claims about speed and memory, each figure beside a peer or a floor in
// the same run, and prints the ratios.
//
//	benchmark                 everything
//	benchmark -run request    the groups whose name matches
//	benchmark -rounds 9       more rounds
//
// Ours and the peer run in turn, round after round, and the ratio is the median of the rounds', so that
// a machine whose speed drifts still gives one answer. Absolute times hold for the machine at hand.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"testing"
	"text/tabwriter"

	"github.com/gin-gonic/gin"
)

// liveHeap is that of a small service, in bytes. With less, the collector would run all the time and be what is
// measured.
const liveHeap = 64 << 20

// A comparison is one claim: ours against a peer that does the same work.
type comparison struct {
	name   string
	peer   string
	target float64 // of the ratio of times, ours over the peer's; 0: shown only
	allocs int64   // ours at most; -1: shown only
	ours   func(*testing.B)
	theirs func(*testing.B)
}

// A claim that is no ratio of times: what it measured, in words.
type claim struct {
	name string
	show func() (string, error)
}

// figure is what the rounds of one comparison gave.
type figure struct {
	ours, theirs   float64 // ns an operation, medians
	oursAllocs     int64
	theirsAllocs   int64
	ratio, low, hi float64 // median, least and greatest ratio of a round
}

func main() {
	testing.Init()
	gin.SetMode(gin.ReleaseMode)
	only := flag.String("run", ".", "groups to run, a regular expression")
	rounds := flag.Int("rounds", 5, "rounds of each comparison")
	length := flag.String("time", "300ms", "length of one measurement")
	flag.Parse()
	defer cleanUp()
	if err := run(os.Stdout, *only, *rounds, *length); err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		cleanUp()
		os.Exit(1) //nolint:gocritic // cleaned up
	}
}

func run(out io.Writer, only string, rounds int, length string) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if err := flag.Set("test.benchtime", length); err != nil {
		return err
	}
	heap := make([]byte, liveHeap)
	defer runtime.KeepAlive(heap)
	fmt.Fprintf(out, "%s, %s/%s, %d processors, %d rounds of %s\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), rounds, length)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "GROUP\tWHAT\tOURS\tPEER\tRATIO\tTARGET\tALLOCS\tBUDGET")
	var later []claim
	for _, g := range groups {
		if !match.MatchString(g.name) {
			continue
		}
		for _, c := range g.comparisons() {
			f := measure(c, rounds)
			fmt.Fprintf(w, "%s\t%s\t%.0f ns\t%s %.0f ns\t%.2f (%.2f–%.2f)\t%s\t%d vs %d\t%s\n", g.name, c.name, f.ours, c.peer, f.theirs,
				f.ratio, f.low, f.hi, verdict(c.target, f.ratio), f.oursAllocs, f.theirsAllocs, budget(c.allocs, f.oursAllocs))
		}
		if g.claims != nil {
			later = append(later, g.claims()...)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, c := range later {
		text, err := c.show()
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintf(out, "\n%s: %s\n", c.name, text)
	}
	return nil
}

// measure runs the two sides in turn.
func measure(c comparison, rounds int) figure {
	var f figure
	var ours, theirs, ratios []float64
	for range rounds {
		t, o := testing.Benchmark(c.theirs), testing.Benchmark(c.ours)
		ours, theirs = append(ours, perOp(o)), append(theirs, perOp(t))
		ratios = append(ratios, perOp(o)/perOp(t))
		f.oursAllocs, f.theirsAllocs = o.AllocsPerOp(), t.AllocsPerOp()
	}
	f.ours, f.theirs, f.ratio = median(ours), median(theirs), median(ratios)
	f.low, f.hi = slices.Min(ratios), slices.Max(ratios)
	return f
}

func perOp(r testing.BenchmarkResult) float64 { return float64(r.T.Nanoseconds()) / float64(r.N) }

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func verdict(target, got float64) string {
	if target == 0 {
		return "–"
	}
	return fmt.Sprintf("≤ %.2f %s", target, mark(cmp.Compare(got, target)))
}

func budget(most, got int64) string {
	if most < 0 {
		return "–"
	}
	return fmt.Sprintf("≤ %d %s", most, mark(cmp.Compare(got, most)))
}

// mark says whether a comparison of what was got with its bound holds.
func mark(compared int) string {
	if compared > 0 {
		return "OVER"
	}
	return "ok"
}
