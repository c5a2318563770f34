package changelog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/release/internal/changelog"
)

const head = "# Changelog\n\nAll of it.\n"

func TestRoll(t *testing.T) {
	core := func(version, notes string) changelog.Release {
		return changelog.Release{Module: "core", Version: version, Notes: notes}
	}
	const one = head + "\n## core v0.1.0 - D\n\n- one\n"
	for _, tc := range []struct {
		name     string
		text     string
		releases []changelog.Release
		want     string
	}{
		{name: "no releases", text: one, want: one},
		{
			name: "first section",
			text: head, releases: []changelog.Release{core("v0.1.0", "- one\n")},
			want: one,
		},
		{
			name: "next section", text: one, releases: []changelog.Release{
				core("v0.2.0", "- two\n"),
				{Module: "core/x", Version: "v0.1.0", Notes: "- x\n"},
			},
			want: head + "\n## core v0.2.0 - D\n\n- two\n\n## core/x v0.1.0 - D\n\n- x\n\n## core v0.1.0 - D\n\n- one\n",
		},
		{
			name: "existing notes",
			text: one, releases: []changelog.Release{core("v0.1.0", "- one\n")}, want: one,
		},
		{
			name: "new notes for the newest section",
			text: one, releases: []changelog.Release{core("v0.1.0", "- one\n- two,\n  one\n")},
			want: head + "\n## core v0.1.0 - D\n\n- one\n- two,\n  one\n",
		},
		{
			name: "new notes for an older section", text: one + "\n## z v0.1.0 - D\n\n- z\n",
			releases: []changelog.Release{core("v0.1.0", "- two")},
			want:     head + "\n## core v0.1.0 - D\n\n- one\n- two\n\n## z v0.1.0 - D\n\n- z\n",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := changelog.Roll(tc.text, "D", tc.releases)
			if got != tc.want {
				t.Errorf("Roll =\n%s\nwant\n%s", got, tc.want)
			}
			if again := changelog.Roll(got, "D", tc.releases); again != got {
				t.Errorf("the second time =\n%s\nwant\n%s", again, got)
			}
		})
	}
}

func TestSection(t *testing.T) {
	const text = head + "\n## core v0.1.10 - D\n\n- ten\n\n## core v0.1.1 - D\n\n- one\n\n### more\n\n- two\n\n## x/core v0.1.0 - D\n\n- x\n"
	if got, ok := changelog.Section(text, "core", "v0.1.1"); !ok ||
		got != "- one\n\n### more\n\n- two\n" {
		t.Errorf("Section = %q, %t", got, ok)
	}
	for _, version := range []string{"v0.1.0", "v0.1", "v0.1.100"} {
		if got, ok := changelog.Section(text, "core", version); ok {
			t.Errorf("Section of %s = %q, want none", version, got)
		}
	}
}

func TestRead(t *testing.T) {
	t.Run("reports invalid fragments", func(t *testing.T) {
		root := t.TempDir()
		for name, text := range map[string]string{
			"core/b.md": "- two\n", "core/a.md": "- one,\n  longer\n\n", "core/sub/x.md": "- sub\n",
			"core/none.txt": "- x\n", "core/prose.md": "Prose.\n",
			"core/heading.md": "- x\n## y\n", "other/x.md": "- x\n", "x.md": "- x\n",
		} {
			file := filepath.Join(root, changelog.Folder, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		found, err := changelog.Read(root, []string{"core", "core/sub"})
		for _, want := range []string{
			"core/none.txt", "core/prose.md", "core/heading.md", "other/x.md",
			".changes/x.md",
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Read = %v, want %s in it", err, want)
			}
		}
		if got := found["core"]; got.Notes != "- one,\n  longer\n- two\n" || len(got.Files) != 2 ||
			found["core/sub"].Notes != "- sub\n" {
			t.Errorf("fragments = %+v", found)
		}
	})

	t.Run("accepts no fragments", func(t *testing.T) {
		if found, err := changelog.Read(t.TempDir(), nil); err != nil || len(found) != 0 {
			t.Errorf("Read = %v, %v", found, err)
		}
	})
}
