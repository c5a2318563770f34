package accept_test

import (
	"testing"

	"github.com/plinthgo/plinth/core/internal/accept"
)

func TestElements(t *testing.T) {
	type element struct {
		value  string
		weight int
	}
	for _, tc := range []struct {
		name, header string
		want         []element
	}{
		{"one element", "en", []element{{"en", 1000}}},
		{"white space", " en ; q = 0.5 ,\tzh", []element{{"en", 500}, {"zh", 1000}}},
		{
			"decimals", "a;q=0.25,b;q=0.125,c;q=1.000,d;q=0",
			[]element{{"a", 250}, {"b", 125}, {"c", 1000}, {"d", 0}},
		},
		{"other parameters", "text/html;level=1;Q=0.1", []element{{"text/html", 100}}},
		{
			"malformed weights", "a;q=x,b;q=2,c;q=0.1234,d;q=0.1x,e;q=,f;q=-1",
			[]element{{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}, {"e", 0}, {"f", 0}},
		},
		{"weight above 1", "a;q=1.5", []element{{"a", 1000}}},
		{"empty", ",", []element{{"", 1000}, {"", 1000}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			i := 0
			for value, weight := range accept.Elements(tc.header) {
				if got := (element{value, weight}); i >= len(tc.want) || got != tc.want[i] {
					t.Errorf("element %d is %+v, want %+v", i, got, tc.want)
				}
				i++
			}
			if i != len(tc.want) {
				t.Errorf("%d elements, want %d", i, len(tc.want))
			}
		})
	}
}
