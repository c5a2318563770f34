// Benchmark compares the speed and memory of Plinth with other libraries in the same run,
// and prints the ratios.
//
//	benchmark                 run all groups
//	benchmark -run request    run the groups whose names match; footprint is one of them
//	benchmark -rounds 9       run more rounds
//	benchmark -write          update the tables of the documentation whose groups all ran
//
// Plinth and the peer run alternately. The ratio is the median over all rounds, so that
// it does not depend on changes in the speed of the machine. Absolute times are valid for
// this machine only.
package main

import (
	"cmp"
	"context"
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

	"github.com/plinthgo/plinth/tools/internal/footprint"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// liveHeap is the live heap of a small service, in bytes. With a smaller heap, garbage
// collection would dominate the results.
const liveHeap = 64 << 20

// A comparison compares Plinth with a peer that does the same work.
type comparison struct {
	name   string
	peer   string
	target float64 // limit of the ratio of times; 0 for no limit
	allocs int64   // limit of our allocations; -1 for no limit
	ours   func(*testing.B)
	theirs func(*testing.B)
}

// A claim is a measurement that is not a ratio of times. show returns it as text.
type claim struct {
	name string
	show func() (string, error)
}

// figure is the result of a comparison.
type figure struct {
	ours, theirs   float64 // medians in ns per operation
	oursAllocs     int64
	theirsAllocs   int64
	ratio, low, hi float64 // median, minimum and maximum ratio of the rounds
	cpu            float64 // median ratio of this process's CPU time per operation
}

// line is a comparison with its result.
type line struct {
	group string
	comparison
	figure
}

func main() {
	testing.Init()
	gin.SetMode(gin.ReleaseMode)
	var p plan
	only := flag.String("run", ".", "run only groups that match this `regexp`")
	flag.IntVar(&p.rounds, "rounds", 5, "number of rounds of each comparison")
	flag.StringVar(&p.length, "time", "300ms", "duration of a measurement")
	flag.BoolVar(&p.write, "write", false, "update the tables of the documentation")
	flag.Parse()
	defer cleanUp()
	if err := p.run(os.Stdout, *only); err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		cleanUp()
		os.Exit(1) // cleanUp has run
	}
}

// plan is the configuration of a run.
type plan struct {
	rounds int
	length string
	write  bool
}

// machine describes the machine of a run.
func (p plan) machine() string {
	return fmt.Sprintf("%s, %s/%s, %d processors, %d rounds of %s",
		runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.GOMAXPROCS(0), p.rounds, p.length)
}

func (p plan) run(out io.Writer, only string) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if err := flag.Set("test.benchtime", p.length); err != nil {
		return err
	}
	root, err := workspace.Find()
	if err != nil {
		return err
	}
	heap := make([]byte, liveHeap)
	defer runtime.KeepAlive(heap)
	fmt.Fprintf(out, "%s\n\n", p.machine())
	lines, claims := p.compare(match)
	if err := show(out, lines, claims); err != nil {
		return err
	}
	var sizes footprint.Sizes
	if match.MatchString("footprint") {
		if sizes, err = footprint.Measure(context.Background(), root); err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s", sizes.Table())
	}
	if !p.write {
		return nil
	}
	return p.document(root, lines, sizes)
}

// compare runs the groups whose names match.
func (p plan) compare(match *regexp.Regexp) (lines []line, claims []claim) {
	for _, g := range groups {
		if !match.MatchString(g.name) {
			continue
		}
		for _, c := range g.comparisons() {
			lines = append(lines, line{g.name, c, measure(c, p.rounds)})
		}
		if g.claims != nil {
			claims = append(claims, g.claims()...)
		}
	}
	return lines, claims
}

// show prints the comparisons as a table, and then the claims.
func show(out io.Writer, lines []line, claims []claim) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(lines) > 0 {
		fmt.Fprintln(w, "GROUP\tWHAT\tOURS\tPEER\tRATIO\tTARGET\tCPU\tALLOCS\tBUDGET")
	}
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\t%.0f ns\t%s %.0f ns\t%.2f (%.2f–%.2f)\t%s\t%.2f\t%d vs %d\t%s\n",
			l.group, l.name, l.figure.ours, l.peer, l.figure.theirs,
			l.ratio, l.low, l.hi, verdict(l.target, l.ratio),
			l.cpu, l.oursAllocs, l.theirsAllocs, budget(l.allocs, l.oursAllocs))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, c := range claims {
		text, err := c.show()
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintf(out, "\n%s: %s\n", c.name, text)
	}
	return nil
}

// measure runs the two sides alternately.
func measure(c comparison, rounds int) figure {
	var f figure
	var ours, theirs, ratios, cpus []float64
	for range rounds {
		t, theirCPU := runTimed(c.theirs)
		o, ourCPU := runTimed(c.ours)
		ours, theirs = append(ours, perOp(o)), append(theirs, perOp(t))
		ratios, cpus = append(ratios, perOp(o)/perOp(t)), append(cpus, ourCPU/theirCPU)
		f.oursAllocs, f.theirsAllocs = o.AllocsPerOp(), t.AllocsPerOp()
	}
	f.ours, f.theirs, f.ratio, f.cpu = median(ours), median(theirs), median(ratios), median(cpus)
	f.low, f.hi = slices.Min(ratios), slices.Max(ratios)
	return f
}

// runTimed runs one side, and also returns the CPU time per operation.
func runTimed(side func(*testing.B)) (r testing.BenchmarkResult, nanoseconds float64) {
	before := cpu()
	r = testing.Benchmark(side)
	return r, float64(cpu()-before) / float64(max(r.N, 1))
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

// mark returns "ok" if a figure is within its limit, and "OVER" otherwise. The argument
// is the result of cmp.Compare(figure, limit).
func mark(compared int) string {
	if compared > 0 {
		return "OVER"
	}
	return "ok"
}
