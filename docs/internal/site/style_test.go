package site_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/docs/internal/site"
)

var colorPair = regexp.MustCompile(`--([a-z]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\);`)

// colors returns the colors of the style sheet by name, for a color scheme.
func colors(t *testing.T, group int) map[string][3]float64 {
	t.Helper()
	data, err := site.Embedded.ReadFile("assets/site.css")
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
	const enough = 4.5 // level AA
	for group, scheme := range map[int]string{2: "light", 3: "dark"} {
		c := colors(t, group)
		check := func(text, on string, background [3]float64) {
			if ratio := contrast(c[text], background); ratio < enough {
				t.Errorf("%s: %s on %s has a contrast of %.2f", scheme, text, on, ratio)
			}
		}
		for text := range strings.FieldsSeq(
			"text muted accent note tip important warning caution") {
			check(text, "paper", c["paper"])
			check(text, "soft", c["soft"])
		}
		for text := range strings.FieldsSeq(
			"keyword type function string number comment property variable tip caution") {
			check(text, "soft", c["soft"])
		}
		for tone := range strings.FieldsSeq("note tip important warning caution") {
			var mixed [3]float64
			for i := range mixed {
				mixed[i] = 0.06*c[tone][i] + 0.94*c["paper"][i]
			}
			check(tone, "its alert", mixed)
			check("text", "an alert", mixed)
			check("accent", "an alert", mixed)
		}
		for _, text := range []string{"text", "muted", "accent"} {
			check(text, "tint", c["tint"])
		}
		check("text", "mark", c["mark"])
		if len(c) < 21 {
			t.Errorf("%s: the style sheet has %d pairs of colors: %v", scheme, len(c), c)
		}
	}
}
