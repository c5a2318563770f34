// Benchmark measures what Plinth claims about speed and memory, each figure beside a peer
// or a floor in the same run, and prints the ratios.
//
//	benchmark                 everything
//	benchmark -run request    the groups whose name matches; footprint is one of them
//	benchmark -rounds 9       more rounds
//	benchmark -write          and put each table of which every group was run into the documentation
//
// Ours and the peer run in turn, round after round, and the ratio is the median of the
// rounds', so that a machine whose speed drifts still gives one answer. Absolute times
// hold for the machine at hand.
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

// liveHeap is that of a small service, in bytes. With less, the collector would run all
// the time and be what is measured.
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
	// median ratio of the CPU time of an operation, whoever spends it in this process
	cpu float64
}

// line is a comparison with what it gave.
type line struct {
	group string
	comparison
	figure
}

func main() {
	testing.Init()
	gin.SetMode(gin.ReleaseMode)
	var p plan
	only := flag.String("run", ".", "groups to run, a regular expression")
	flag.IntVar(&p.rounds, "rounds", 5, "rounds of each comparison")
	flag.StringVar(&p.length, "time", "300ms", "length of one measurement")
	flag.BoolVar(&p.write, "write", false, "put the tables into the documentation")
	flag.Parse()
	defer cleanUp()
	if err := p.run(os.Stdout, *only); err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		cleanUp()
		os.Exit(1) // cleaned up
	}
}

// plan is what a run of the program does.
type plan struct {
	rounds int
	length string
	write  bool
}

// machine is what the figures hold for.
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

// show prints the lines as a table, and then what the claims have measured.
func show(out io.Writer, lines []line, claims []claim) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(lines) > 0 {
		fmt.Fprintln(w, "GROUP\tWHAT\tOURS\tPEER\tRATIO\tTARGET\tCPU\tALLOCS\tBUDGET")
	}
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\t%.0f ns\t%s %.0f ns\t%.2f (%.2f–%.2f)\t%s\t%.2f\t%d vs %d\t%s\n",
			l.group, l.name, l.figure.ours, l.peer,
			l.figure.theirs, l.ratio, l.low, l.hi, verdict(l.target, l.ratio), l.cpu, l.oursAllocs,
			l.theirsAllocs, budget(l.allocs, l.oursAllocs))
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

// measure runs the two sides in turn.
func measure(c comparison, rounds int) figure {
	var f figure
	var ours, theirs, ratios, cpus []float64
	for range rounds {
		t, theirCPU := timed(c.theirs)
		o, ourCPU := timed(c.ours)
		ours, theirs = append(ours, perOp(o)), append(theirs, perOp(t))
		ratios, cpus = append(ratios, perOp(o)/perOp(t)), append(cpus, ourCPU/theirCPU)
		f.oursAllocs, f.theirsAllocs = o.AllocsPerOp(), t.AllocsPerOp()
	}
	f.ours, f.theirs, f.ratio, f.cpu = median(ours), median(theirs), median(ratios), median(cpus)
	f.low, f.hi = slices.Min(ratios), slices.Max(ratios)
	return f
}

// timed runs one side, and returns the CPU time of an operation too.
func timed(side func(*testing.B)) (r testing.BenchmarkResult, nanoseconds float64) {
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

// mark says whether a comparison of what was got with its bound holds.
func mark(compared int) string {
	if compared > 0 {
		return "OVER"
	}
	return "ok"
}
