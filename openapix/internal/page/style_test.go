package page_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var colorPair = regexp.MustCompile(`--([a-z]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\);`)

// colors returns the colors of the style sheet by name, for a color scheme.
func colors(t *testing.T, group int) map[string][3]float64 {
	t.Helper()
	data, err := os.ReadFile("assets/reference.css")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][3]float64{}
	for _, m := range colorPair.FindAllStringSubmatch(string(data), -1) {
		n, err := strconv.ParseUint(m[group], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		found[m[1]] = [3]float64{float64(n >> 16 & 255), float64(n >> 8 & 255), float64(n & 255)}
	}
	return found
}

// contrast returns the WCAG 2.2 contrast ratio, from 1 to 21.
func contrast(a, b [3]float64) float64 {
	luminance := func(c [3]float64) float64 {
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			v := c[i] / 255
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			sum += weight * v
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestStyle_Contrast(t *testing.T) {
	const text, control = 4.5, 3 // level AA
	for group, scheme := range map[int]string{2: "light", 3: "dark"} {
		c := colors(t, group)
		check := func(least float64, name, on string) {
			if ratio := contrast(c[name], c[on]); ratio < least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, want %.1f", scheme, name, on, ratio, least)
			}
		}
		for name := range strings.FieldsSeq("text muted accent read create replace warning danger type") {
			check(text, name, "paper")
			check(text, name, "soft")
		}
		for name := range strings.FieldsSeq("text muted accent read create replace warning danger") {
			check(text, name, "tint") // in the search
		}
		check(text, "text", "mark")
		check(control, "edge", "paper")
		check(control, "edge", "soft")
		if len(c) < 15 {
			t.Errorf("%s: the style sheet has %d pairs of colors: %v", scheme, len(c), c)
		}
	}
}
