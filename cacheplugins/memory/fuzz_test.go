package memory_test

import (
	"slices"
	"testing"

	"github.com/plinthgo/plinth/cacheplugins/memory"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// FuzzList applies a script to a list and to a slice and compares them after each step.
func FuzzList(f *testing.F) {
	f.Add([]byte("aabbccpPrRaaaPPPP"))
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
	f.Fuzz(func(t *testing.T, script []byte) {
		store, err := memory.Driver{}.Open(t.Context(), entries(4))
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close() //nolint:errcheck // Close stops the goroutines of the store
		var model []string
		for i, b := range script {
			model = step(t, store, model, b, i)
			got, err := store.ListRange(t.Context(), "l", 0, -1)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(got, model,
				func(a []byte, b string) bool { return string(a) == b }) {
				t.Fatalf("after step %d (%d): list = %q, want %q", i, b, got, model)
			}
		}
	})
}

// step executes one byte of the script.
func step(t *testing.T, store driver.Store, model []string, b byte, i int) []string {
	t.Helper()
	value := string('a' + rune(i%3))
	end := driver.End(b % 2)
	var err error
	switch b / 2 % 4 {
	case 0, 1:
		values := make([][]byte, b/8%3+1)
		for j := range values {
			values[j] = []byte(value)
			if end == driver.Head {
				model = slices.Insert(model, 0, value)
			} else {
				model = append(model, value)
			}
		}
		_, _, err = store.ListPush(t.Context(), "l", end, values, driver.Write{})
	case 2:
		_, _, err = store.ListPop(t.Context(), "l", end)
		if len(model) > 0 {
			at := int(end) * (len(model) - 1)
			model = slices.Delete(model, at, at+1)
		}
	default:
		count := int(b/8)%5 - 2
		_, err = store.ListRemove(t.Context(), "l", count, []byte(value))
		model = without(model, count, value)
	}
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// without returns model without the values that LREM would remove.
func without(model []string, count int, value string) []string {
	var at []int
	for i, v := range model {
		if v == value {
			at = append(at, i)
		}
	}
	if count < 0 {
		slices.Reverse(at)
	}
	if n := max(count, -count); n > 0 && n < len(at) {
		at = at[:n]
	}
	slices.Sort(at)
	for _, i := range slices.Backward(at) {
		model = slices.Delete(model, i, i+1)
	}
	return model
}
