package xdotenv_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xdotenv"
)

func TestParse(t *testing.T) {
	for n, want := range map[int]int{19: 1, 20: 1, 21: 0} {
		values, bad := xdotenv.Parse("LOG_DIR=none\n" + strings.Repeat("not a line\n", n))
		if len(values) != want || len(bad) != min(n, 20) {
			t.Errorf("%d invalid lines: values %v and %d bad lines, want %d values",
				n, values, len(bad), want)
		}
	}
}

func ExampleParse() {
	values, bad := xdotenv.Parse("PLINTH_PORT=8080 # comment\nnot a line\n")
	fmt.Println(values["PLINTH_PORT"], bad)
	// Output: 8080 [2]
}
