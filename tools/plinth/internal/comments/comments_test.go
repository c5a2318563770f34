package comments_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/plinthgo/plinth/tools/plinth/internal/comments"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

const code = `// Package shop is a shop.
package main

import "time"

// Run runs.
//
// It has two paragraphs.
//
//go:noinline
func Run() {}

// Get gets.
func Get[K comparable, V any](K) (v V) { return v }

func undocumented() {}

type (
	// Pair is a pair.
	Pair[A any, B any] struct {
		// Left is the first.
		Left  A
		Right B // Right is the second.
		// Both are counted.
		x, y int
	}

	// Lister lists.
	Lister interface {
		// List lists all.
		List() []string
	}
	Number int // a number
)

// Order is an order.
type Order struct {
	// Pair is embedded.
	*Pair[int, string]
	// Time is when it was placed.
	time.Time
}

// Swap swaps.
func (p *Pair[X, Y]) Swap() {}

// First returns Left.
func (p Pair[A, _]) First() A { return p.Left }
`

func TestRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.com/shop\n\ngo 1.26.0\n",
		"main.go":   code + "\nfunc main() {}\n",
		"off.go":    "//go:build never\n\npackage main\n\n// Off is not compiled.\nfunc Off() {}\n",
		"x_test.go": "package main\n\n// Test is not compiled.\nfunc Test() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
	s, err := service.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Enter(t.Context()); err != nil || s.CodeErr != nil {
		t.Fatal(err, s.CodeErr)
	}
	got, err := comments.Read(s.Programs[0])
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for name, text := range map[string]string{
		"Run":          "Run runs.\n\nIt has two paragraphs.",
		"Get":          "Get gets.",
		"Pair":         "Pair is a pair.",
		"Pair.Left":    "Left is the first.",
		"Pair.Right":   "Right is the second.",
		"Pair.x":       "Both are counted.",
		"Pair.y":       "Both are counted.",
		"Lister":       "Lister lists.",
		"Lister.List":  "List lists all.",
		"Number":       "a number",
		"Order":        "Order is an order.",
		"Order.Pair":   "Pair is embedded.",
		"Order.Time":   "Time is when it was placed.",
		"(*Pair).Swap": "Swap swaps.",
		"Pair.First":   "First returns Left.",
	} {
		want["main."+name], want["example.com/shop."+name] = text, text
	}
	if !maps.Equal(got, want) {
		t.Errorf("comments = %q\nwant %q", got, want)
	}
}
