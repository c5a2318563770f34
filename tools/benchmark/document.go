package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/tools/internal/footprint"
	"github.com/plinthgo/plinth/tools/internal/marks"
)

// document updates each table of the documentation whose groups all ran.
func (p plan) document(root string, lines []line, sizes footprint.Sizes) error {
	ratioLines := slices.DeleteFunc(slices.Clone(lines),
		func(l line) bool { return l.group == peersGroup })
	if len(ratioLines) < len(lines) {
		peerLines := slices.DeleteFunc(slices.Clone(lines),
			func(l line) bool { return l.group != peersGroup })
		table := peerTable(peerLines) + "\n" + p.machine() + ".\n"
		if err := putTable(root, "peers", table); err != nil {
			return err
		}
	}
	if missing := notRun(ratioLines); len(missing) > 0 {
		fmt.Fprintln(os.Stderr, "benchmark: table of ratios not updated; groups that did not run:",
			strings.Join(missing, ", "))
	} else {
		table := ratioTable(ratioLines) + "\n" + p.machine() + ".\n"
		if err := putTable(root, "ratios", table); err != nil {
			return err
		}
	}
	if sizes == nil {
		return nil
	}
	if err := putTable(root, "footprint", sizes.Table()); err != nil {
		return err
	}
	return marks.Put(filepath.Join(root, "README.md"), "footprint", sizes.Modules())
}

// putTable replaces a table of the guide, in English and Chinese.
func putTable(root, name, table string) error {
	guide := filepath.Join(root, "docs", "content", "guide")
	return errors.Join(marks.Put(filepath.Join(guide, "performance.md"), name, table),
		marks.Put(filepath.Join(guide, "performance.zh.md"), name, table))
}

// notRun returns the groups of the table of ratios that have no line.
func notRun(lines []line) (missing []string) {
	for _, g := range groups {
		has := slices.ContainsFunc(lines, func(l line) bool { return l.group == g.name })
		if g.name != peersGroup && g.name != docsGroup && !has {
			missing = append(missing, g.name)
		}
	}
	return missing
}

// peerTable returns the comparison with each framework as a Markdown table. The two lines
// of a framework become one row.
func peerTable(lines []line) string {
	var b strings.Builder
	b.WriteString("| Framework | Bare: time, CPU, allocations | With id, recovery and access log: time, CPU, allocations |\n|---|---|---|\n")
	for pair := range slices.Chunk(lines, 2) {
		name, _, _ := strings.Cut(pair[0].peer, ",")
		fmt.Fprintf(&b, "| %s |", name)
		for _, l := range pair {
			fmt.Fprintf(&b, " %.2f, %.2f, %d against %d |",
				l.ratio, l.cpu, l.oursAllocs, l.theirsAllocs)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// ratioTable returns all other comparisons as a Markdown table.
func ratioTable(lines []line) string {
	var b strings.Builder
	b.WriteString("| | What | Ours | Peer | Ratio | Target | Allocations |\n|---|---|---|---|---|---|---|\n")
	for _, l := range lines {
		target := ""
		if l.target > 0 {
			target = fmt.Sprintf("%.2f", l.target)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s, %s | %.2f | %s | %d against %d |\n",
			l.group, l.name, formatTime(l.figure.ours), l.peer, formatTime(l.figure.theirs),
			l.ratio, target, l.oursAllocs, l.theirsAllocs)
	}
	return b.String()
}

// formatTime formats nanoseconds with at least three significant digits.
func formatTime(ns float64) string {
	switch {
	case ns < 1e4:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 1e7:
		return fmt.Sprintf("%.1f µs", ns/1e3)
	default:
		return fmt.Sprintf("%.1f ms", ns/1e6)
	}
}
