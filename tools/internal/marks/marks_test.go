package marks_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/plinthgo/plinth/tools/internal/marks"
)

func TestPut(t *testing.T) {
	const start, end, other = "<!-- a: written by x -->\n", "<!-- /a -->\n",
		"<!-- b: written by y -->\nkept\n<!-- /b -->\n"
	for _, tc := range []struct{ name, file, want string }{
		{
			name: "between", file: "1\n" + start + "old\n" + end + other,
			want: "1\n" + start + "new\n" + end + other,
		},
		{name: "empty before", file: start + end, want: start + "new\n" + end},
		{name: "no marks", file: other},
		{name: "no end", file: start},
		{name: "end mark first", file: end + start},
		{name: "twice", file: start + end + start + end},
	} {
		t.Run(tc.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "page.md")
			if err := os.WriteFile(name, []byte(tc.file), 0o600); err != nil {
				t.Fatal(err)
			}
			err := marks.Put(name, "a", "new\n")
			if (err == nil) != (tc.want != "") {
				t.Fatalf("Put = %v, want an error: %t", err, tc.want == "")
			}
			want := tc.want
			if err != nil {
				want = tc.file // unchanged
			}
			if got, err := os.ReadFile(name); err != nil || string(got) != want {
				t.Errorf("file = %q, %v; want %q", got, err, want)
			}
		})
	}
}
