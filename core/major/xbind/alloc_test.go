package xbind_test

import "testing"

// The budgets of performance.md are for a whole request, of which the stack around takes four.
func TestAllocationsStayInTheBudget(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector empties pools")
	}
	for _, tc := range []struct {
		name, body string
		want       float64
	}{
		{"valid", benchValid, 11},
		{"three failures", benchInvalid, 34},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, rewind := benchContext(tc.body)
			got := testing.AllocsPerRun(200, func() {
				rewind()
				bindWithXBind(c)
			})
			if got > tc.want {
				t.Errorf("%v allocations, want at most %v", got, tc.want)
			}
		})
	}
}
