package runner

import (
	"math/rand/v2"
	"testing"
)

func TestMark_Claim(t *testing.T) {
	t.Run("claims each second once in any order", func(t *testing.T) {
		const first = 1_800_000_000
		for _, tc := range []struct {
			name  string
			order []int64
			want  []bool
		}{
			{name: "in order", order: []int64{0, 1, 2, 5}, want: []bool{true, true, true, true}},
			{
				name: "twice", order: []int64{0, 0, 1, 0, 1},
				want: []bool{true, false, true, false, false},
			},
			{
				name: "a gap can be filled", order: []int64{0, 3, 1, 2, 1, 2, 3},
				want: []bool{true, true, true, true, false, false, false},
			},
			{
				name:  "last second of the window",
				order: []int64{30, 0, 0}, want: []bool{true, true, false},
			},
			{name: "before the window", order: []int64{31, 0}, want: []bool{true, false}},
			{
				name: "far ahead", order: []int64{0, 3600, 3599, 0},
				want: []bool{true, true, true, false},
			},
			{
				name: "the window moves", order: []int64{0, 30, 0, 31, 1, 30},
				want: []bool{true, true, false, true, true, false},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				var m mark
				for i, second := range tc.order {
					next, o := m.claim(first + second)
					ok := o == claimed
					if ok != tc.want[i] {
						t.Errorf("step %d, second %d: %v, want %v", i, second, ok, tc.want[i])
					}
					if ok && next <= m {
						t.Errorf("step %d: mark %d after %d, want a larger one", i, next, m)
					}
					if ok {
						m = next
					}
				}
			})
		}
	})

	t.Run("claims no second twice and rejects none in the window", func(t *testing.T) {
		for range 200 {
			latest := int64(1_800_000_000)
			m, _ := mark(0).claim(latest)
			known := map[int64]bool{latest: true}
			for range 500 {
				second := latest + rand.Int64N(80) - 45
				next, o := m.claim(second)
				want := claimed
				switch {
				case second < latest-window:
					want = outOfRange
				case known[second]:
					want = claimedElsewhere
				}
				if o != want {
					t.Fatalf("%d, %d before the latest: %d, want %d",
						second, latest-second, o, want)
				}
				if o == claimed {
					known[second], m = true, next
					latest = max(latest, second)
				}
			}
		}
	})
}
