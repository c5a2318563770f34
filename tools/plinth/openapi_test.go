package main_test

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// newShop writes the modules of testdata/openapi.txtar and returns the directory of shop.
func newShop(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "openapi.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir, files := t.TempDir(), map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	put(t, dir, files)
	return filepath.Join(dir, "shop")
}

// replaceIn replaces old in a file of dir, which must contain it.
func replaceIn(t *testing.T, dir, name, old, text string) {
	t.Helper()
	before := contentOf(t, dir, name)
	if !strings.Contains(before, old) {
		t.Fatalf("%s does not contain %q", name, old)
	}
	put(t, dir, map[string]string{name: strings.Replace(before, old, text, 1)})
}

func contentOf(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var offline = []string{"GOWORK=off"}

func TestOpenAPI(t *testing.T) {
	shop := newShop(t)
	api := filepath.Join(shop, "cmd", "api")

	t.Run("writes the document with doc comments", func(t *testing.T) {
		got := plinth(t, shop, offline, "openapi", "./cmd/api")
		if want := "wrote openapi.json: 3 operations\n"; got.code != 0 || got.out != want {
			t.Fatalf("exit code %d, %q and %q, want %q", got.code, got.out, got.err, want)
		}
		var d struct {
			Paths map[string]map[string]struct {
				Summary   string
				Responses map[string]struct {
					Content map[string]struct {
						Schema struct {
							Description string
							Properties  map[string]struct{ Description string }
						}
					}
				}
			}
		}
		text := contentOf(t, shop, "openapi.json")
		decode(t, text, &d)
		if !strings.HasPrefix(text, "{\n  \"info\"") || !strings.HasSuffix(text, "\n}\n") {
			t.Errorf("the document is not indented: %s", text)
		}
		for _, tc := range []struct{ path, method, property, summary, object, field string }{
			{
				"/health", "get", "Name",
				"health reports the state.", "Status is the state of the service.", "name of the service",
			},
			{
				"/items", "get", "Next",
				"List returns the items.", "Page is a page of items.", "Next is the key of the next page.",
			},
			{
				"/items", "post", "Price",
				"Create adds an item.", "Item is an item of the shop.", "Price is in cents.",
			},
		} {
			operation := d.Paths[tc.path][tc.method]
			schema := operation.Responses["200"].Content["application/json"].Schema
			got := []string{
				operation.Summary, schema.Description, schema.Properties[tc.property].Description,
			}
			if want := []string{tc.summary, tc.object, tc.field}; !slices.Equal(got, want) {
				t.Errorf("%s %s: descriptions = %q, want %q", tc.method, tc.path, got, want)
			}
		}
	})

	t.Run("does not touch an equal file", func(t *testing.T) {
		before, err := os.Stat(filepath.Join(shop, "openapi.json"))
		if err != nil {
			t.Fatal(err)
		}
		got := plinth(t, api, offline, "openapi")
		after, err := os.Stat(filepath.Join(shop, "openapi.json"))
		if want := "openapi.json is up to date: 3 operations\n"; err != nil || got.out != want ||
			!os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
			t.Errorf("output %q, want %q and the same file; %v", got.out, want, err)
		}
	})

	t.Run("writes to another file and to standard output", func(t *testing.T) {
		want := contentOf(t, shop, "openapi.json")
		got := plinth(t, api, offline, "openapi", "example.com/shop/cmd/api", "--output", "docs/api.json", "--json")
		var result struct {
			File       string
			Operations int
			Changed    bool
		}
		decode(t, got.out, &result)
		if file := contentOf(t, api, "docs/api.json"); file != want || result.Operations != 3 || !result.Changed {
			t.Errorf("result = %+v and document %q, want %q", result, file, want)
		}
		plinth(t, api, offline, "openapi", "--output", "openapi.json")
		if file := contentOf(t, api, "openapi.json"); file != want {
			t.Errorf("document in the working directory = %q, want %q", file, want)
		}
		if got := plinth(t, api, offline, "openapi", "--output", "-"); got.out != want {
			t.Errorf("standard output = %q, want %q", got.out, want)
		}
	})

	t.Run("reports errors with the fix", func(t *testing.T) {
		const fix = `add the import "github.com/plinthgo/plinth/openapix" and the option openapix.Serve() to the service`
		for _, tc := range []struct {
			name string
			args []string
			env  string
			code int
			want string
		}{
			{
				"several programs", nil, "", 2,
				"plinth: the module has several main packages; name one of cmd/api, cmd/worker\n",
			},
			{
				"unknown package",
				[]string{"./cmd/other"},
				"", 2, "plinth: invalid PACKAGE ./cmd/other: ",
			},
			{
				"without openapix",
				[]string{"./cmd/worker"},
				"", 1,
				"plinth: cmd/worker does not import github.com/plinthgo/plinth/openapix; run go get github.com/plinthgo/plinth/openapix and " + fix + "\n",
			},
			{
				"failure",
				[]string{"./cmd/api"},
				"SHOP_FAULT=exit", 1,
				"plinth: the service failed: exit status 4\nroutes are invalid\n",
			},
			{
				"no document",
				[]string{"./cmd/api"},
				"SHOP_FAULT=silent", 1,
				"plinth: the service exited without writing its document; " + fix + "\nthe service ran\n",
			},
			{
				"base without check",
				[]string{"--base", "main"},
				"", 2, "plinth: --base requires --check\n",
			},
			{
				"check of standard output",
				[]string{"--check", "--output", "-"},
				"", 2,
				"plinth: --check cannot be combined with --output -\n",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				got := plinth(t, shop, append(slices.Clone(offline), tc.env), append([]string{"openapi"}, tc.args...)...)
				if got.code != tc.code || !strings.HasPrefix(got.err, tc.want) {
					t.Errorf("exit code %d and %q, want %d and %q", got.code, got.err, tc.code, tc.want)
				}
			})
		}
	})
}

func TestOpenAPI_Build(t *testing.T) {
	shop := newShop(t)
	replaceIn(t, shop, "cmd/api/main.go", "func health() {}", "func health() { unknown() }")
	got := plinth(t, shop, offline, "openapi", "./cmd/api")
	if want := "undefined: unknown"; got.code != 1 || !strings.HasPrefix(got.err, "plinth: go build: ") ||
		!strings.Contains(got.err, want) {
		t.Errorf("exit code %d and %q, want %q", got.code, got.err, want)
	}
}

func TestOpenAPI_Timeout(t *testing.T) {
	shop := newShop(t)
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	closed := make(chan error, 1)
	go func() { // the connection of the child process is closed when the child exits
		c, err := listener.Accept()
		if err == nil {
			_, err = c.Read(make([]byte, 1))
			_ = c.Close()
		}
		closed <- err
	}()
	got := plinth(t, shop, append([]string{"SHOP_FAULT=hang", "SHOP_ADDR=" + listener.Addr().String()}, offline...),
		"openapi", "./cmd/api", "--timeout", "3s")
	if want := "plinth: the service did not exit within 3s; add the import"; got.code != 1 ||
		!strings.HasPrefix(got.err, want) {
		t.Errorf("exit code %d and %q, want %q", got.code, got.err, want)
	}
	if err := <-closed; !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
		t.Errorf("connection of the child process: %v, want the end of the process", err)
	}
}

func TestOpenAPI_Check(t *testing.T) {
	shop := newShop(t)
	check := func(args ...string) result {
		return plinth(t, shop, offline, append([]string{"openapi", "./cmd/api", "--check"}, args...)...)
	}
	expect := func(t *testing.T, got result, code int, want string) {
		t.Helper()
		if got.code != code || got.out != want {
			t.Errorf("exit code %d and\n%s%s\nwant %d and\n%s", got.code, got.out, got.err, code, want)
		}
	}
	commit := func(t *testing.T) {
		t.Helper()
		if got := plinth(t, shop, offline, "openapi", "./cmd/api"); got.code != 0 {
			t.Fatal(got.err)
		}
		for _, args := range [][]string{
			{"init", "--quiet"},
			{"add", "openapi.json"},
			{
				"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false",
				"commit", "--quiet", "-m", "x",
			},
			{"tag", "--force", "v1"},
		} {
			cmd := exec.CommandContext(t.Context(), "git", args...)
			cmd.Dir = shop
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %q: %v\n%s", args, err, out)
			}
		}
	}

	t.Run("reports a missing file", func(t *testing.T) {
		expect(t, check(), 3, "openapi.json does not exist; run plinth openapi\n")
	})
	commit(t)
	t.Run("accepts an equal file", func(t *testing.T) {
		expect(t, check(), 0, "openapi.json is up to date: 3 operations\n")
	})

	replaceIn(t, shop, "item/item.go", "is in cents", "is in euro cents")
	t.Run("reports a changed text", func(t *testing.T) {
		const at = "/paths/~1items/post/responses/200/content/application~1json/schema/properties/Price/description"
		expect(t, check(), 3, "CHANGE  AT"+strings.Repeat(" ", len(at))+"WHAT\n"+
			"other   "+at+"  changed\n"+
			"openapi.json is out of date: 1 difference; run plinth openapi\n")
	})

	replaceIn(t, shop, "item/item.go", "	Price int\n", "	Amount int\n")
	t.Run("reports a breaking change of the file", func(t *testing.T) {
		got := check()
		for _, want := range []string{
			"breaking    POST /items", "`Price`", "compatible  POST /items", "`Amount`",
			"\n1 breaking change since openapi.json; --allow-breaking accepts them\n",
		} {
			if got.code != 3 || !strings.Contains(got.out, want) {
				t.Errorf("exit code %d and no %q in\n%s%s", got.code, want, got.out, got.err)
			}
		}
		if got := check("--allow-breaking"); got.code != 3 {
			t.Errorf("an accepted change: exit code %d, want 3 because the file is out of date", got.code)
		}
	})

	if got := plinth(t, shop, offline, "openapi", "./cmd/api"); got.code != 0 {
		t.Fatal(got.err)
	}
	t.Run("reports a breaking change of a git revision", func(t *testing.T) {
		if got := check(); got.code != 0 {
			t.Errorf("without base: exit code %d, %s", got.code, got.out)
		}
		for _, base := range []string{"v1", "v1:openapi.json", "HEAD"} {
			got := check("--base", base)
			if want := "1 breaking change since " + base; got.code != 3 || !strings.Contains(got.out, want) {
				t.Errorf("exit code %d and no %q in\n%s%s", got.code, want, got.out, got.err)
			}
		}
		if got := check("--base", "v1", "--allow-breaking"); got.code != 0 ||
			!strings.HasSuffix(got.out, "1 breaking change since v1, accepted\n") {
			t.Errorf("accepted: exit code %d and\n%s", got.code, got.out)
		}
		var r struct {
			Outdated bool
			Breaking []struct{ Kind, Rule, At, What string }
		}
		decode(t, check("--base", "v1", "--json").out, &r)
		if r.Outdated || len(r.Breaking) != 1 || r.Breaking[0].Rule != "response-required-property-removed" ||
			r.Breaking[0].At != "POST /items" {
			t.Errorf("JSON result = %+v", r)
		}
	})

	t.Run("reports an unusable base", func(t *testing.T) {
		got := check("--base", "v1:other.json")
		if want := "warning: v1:other.json: the revision does not contain the document; no breaking changes are reported\n"; got.code != 0 || got.err != want {
			t.Errorf("exit code %d and %q, want %q", got.code, got.err, want)
		}
		got = check("--base", "v9")
		if want := "plinth: --base v9 is neither a file nor a git revision; if it is a branch, run git fetch: "; got.code != 1 || !strings.HasPrefix(got.err, want) {
			t.Errorf("exit code %d and %q, want %q", got.code, got.err, want)
		}
	})
}
