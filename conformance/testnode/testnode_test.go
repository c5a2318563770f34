package testnode_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/conformance/testnode"
)

// fakeNpm installs a fake npm as the only program in PATH. It counts its runs and
// installs a node that prints a version.
func fakeNpm(t *testing.T, script string) (cache string, runs func() int) {
	t.Helper()
	bin, cache, count := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "count")
	text := "#!/bin/sh\necho run >>" + count + "\n" + script
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache) // where the system does not know the other
	return cache, func() int {
		data, _ := os.ReadFile(count)
		return strings.Count(string(data), "run")
	}
}

const installs = `mkdir -p node_modules/.bin && printf '#!/bin/sh\necho v99' >node_modules/.bin/node && chmod +x node_modules/.bin/node`

// lock writes the folder of a package.
func lock(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{".npmrc", "package.json", "package-lock.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestInstall(t *testing.T) {
	t.Run("is done once", func(t *testing.T) {
		_, runs := fakeNpm(t, installs)
		first, second := lock(t, "1"), lock(t, "2")
		for _, dir := range []string{first, first, second} {
			p, err := testnode.Install(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if p.Version() != "v99" {
				t.Errorf("version = %q, want that of the node that was installed", p.Version())
			}
		}
		if got := runs(); got != 2 {
			t.Errorf("npm ran %d times, want once for each lock", got)
		}
	})

	t.Run("may run concurrently", func(t *testing.T) {
		cache, _ := fakeNpm(t, installs)
		dir := lock(t, "1")
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, err := testnode.Install(t.Context(), dir); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		left, err := filepath.Glob(filepath.Join(cache, "plinth-npm", "new-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left are %q, %v", left, err)
		}
	})

	t.Run("removes its files on failure", func(t *testing.T) {
		_, runs := fakeNpm(t, "echo no network; exit 1")
		dir := lock(t, "1")
		for range 2 {
			if _, err := testnode.Install(t.Context(), dir); err == nil ||
				!strings.Contains(err.Error(), "no network") {
				t.Errorf("Install = %v, want what npm says", err)
			}
		}
		if got := runs(); got != 2 {
			t.Errorf("npm ran %d times, want another attempt", got)
		}
	})

	t.Run("reports a missing npm", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		_, err := testnode.Install(t.Context(), lock(t, "1"))
		if !errors.Is(err, testnode.ErrMissing) || !strings.Contains(err.Error(), "apt-get install npm") {
			t.Errorf("Install = %v, want that npm is missing", err)
		}
	})
}
