package openapix_test

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/openapix"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares text with a file in testdata.
func golden(t *testing.T, name string, text []byte) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("%s (-want +got), run the test with -update to accept it:\n%s", file, diff)
	}
}

func TestDocument(t *testing.T) {
	text, err := openapix.Document(newEngine(routes), options()...)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "shop.json", text)

	t.Run("is deterministic", func(t *testing.T) {
		again, err := openapix.Document(newEngine(routes), options()...)
		if err != nil || string(again) != string(text) {
			t.Errorf("second document differs (error %v)", err)
		}
	})
}
