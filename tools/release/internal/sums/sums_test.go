package sums_test

import (
	"testing"

	"github.com/plinthgo/plinth/tools/release/internal/sums"
)

const text = "github.com/a/b v1.0.0 h1:b=\ngithub.com/plinthgo/plinth/core v0.1.0 h1:z=\ngithub.com/plinthgo/plinth/core v0.1.0/go.mod h1:m=\n"

func TestOursAndOthers(t *testing.T) {
	ours := sums.Ours([]byte(text))
	whole := string(sums.Others([]byte(text)))
	for _, l := range ours {
		whole += l.String()
	}
	if len(ours) != 2 || !ours[1].Mod || ours[0].Mod || whole != text {
		t.Errorf("ours = %v, whole = %q", ours, whole)
	}
}

func TestReplaceHashes(t *testing.T) {
	got, err := sums.ReplaceHashes([]byte(text), func(l sums.Line) (string, error) {
		if l.Mod {
			return "", nil
		}
		return "h1:new=", nil
	})
	if want := "github.com/a/b v1.0.0 h1:b=\ngithub.com/plinthgo/plinth/core v0.1.0 h1:new=\n"; err != nil || string(got) != want {
		t.Errorf("ReplaceHashes = %q, %v; want %q", got, err, want)
	}
}
