package main

import (
	"slices"
	"strings"
	"testing"
)

func TestPeerTable(t *testing.T) {
	pair := []line{
		{
			group: peersGroup, comparison: comparison{peer: "echo, bare"},
			figure: figure{ratio: 1.07, cpu: 1.06, oursAllocs: 18, theirsAllocs: 19},
		},
		{
			group: peersGroup, comparison: comparison{peer: "echo with id"},
			figure: figure{ratio: 0.8, cpu: 0.76, oursAllocs: 18, theirsAllocs: 22},
		},
	}
	const want = "| echo | 1.07, 1.06, 18 against 19 | 0.80, 0.76, 18 against 22 |\n"
	if got := peerTable(pair); !strings.HasSuffix(got, want) {
		t.Errorf("table =\n%s\nwant the row\n%s", got, want)
	}
}

func TestNotRun(t *testing.T) {
	var all []line
	for _, g := range groups {
		all = append(all, line{group: g.name})
	}
	if missing := notRun(all); len(missing) > 0 {
		t.Errorf("notRun = %q after all groups ran", missing)
	}
	without := slices.DeleteFunc(all,
		func(l line) bool { return l.group == "redis" || l.group == peersGroup })
	if missing := notRun(without); !slices.Equal(missing, []string{"redis"}) {
		t.Errorf("notRun = %q, want redis", missing)
	}
}

func TestFormatTime(t *testing.T) {
	for _, tc := range []struct {
		name string
		ns   float64
		want string
	}{
		{name: "nanoseconds", ns: 784.4, want: "784 ns"},
		{name: "microseconds", ns: 15_120, want: "15.1 µs"},
		{name: "milliseconds", ns: 48_200_000, want: "48.2 ms"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := formatTime(tc.ns); got != tc.want {
				t.Errorf("formatTime = %q, want %q", got, tc.want)
			}
		})
	}
}
