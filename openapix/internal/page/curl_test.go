package page_test

import (
	"fmt"
	"mime"
	"mime/multipart"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

// awkward has all characters that are special in a shell, in a URL or for curl.
const awkward = `it's "x" $HOME $(id) ` + "`id`" + ` \n \\ ! * ? [a-b] {1,2} & ; | < > # % + @ = é 中`

// command copies the open form as curl.
func (tab *tab) command() string {
	tab.t.Helper()
	tab.click(".try .tools .button:last-child")
	tab.until(`document.querySelector(".try .result").textContent.startsWith("Command")`)
	return get[string](tab, `document.querySelector(".area pre").textContent`)
}

// run runs a command with a shell in a directory.
func run(t *testing.T, dir, command string) {
	t.Helper()
	for _, program := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("SKIPPED: " + program + " is missing")
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command+" --silent --show-error")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// parts returns the parts of a form by name.
func parts(t *testing.T, r recorded) map[string]string {
	t.Helper()
	_, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	form, err := multipart.NewReader(strings.NewReader(r.Body), parameters["boundary"]).ReadForm(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for name, values := range form.Value {
		all[name] = strings.Join(values, "|")
	}
	for name, files := range form.File {
		all[name] = fmt.Sprintf("%s %d", files[0].Filename, files[0].Size)
	}
	return all
}

func TestBrowser_CopyAsCurl(t *testing.T) {
	s := start(t, read(t, "usercenter.json"))
	tab := newTab(t, s.base)
	tab.failures = true
	compare := func(t *testing.T, headers ...string) {
		t.Helper()
		tab.send()
		want := s.last(t)
		run(t, t.TempDir(), tab.command())
		got := s.last(t)
		if got.Method != want.Method || got.URI != want.URI || got.Body != want.Body {
			t.Errorf("curl sent %s %s %q, want %s %s %q", got.Method, got.URI, got.Body, want.Method, want.URI, want.Body)
		}
		for _, name := range headers {
			if diff := cmp.Diff(want.Header[name], got.Header[name]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}

	tab.run("body", func(t *testing.T) {
		tab.open("createUser")
		get[bool](tab, fmt.Sprintf(`(document.querySelector(".try textarea").value = %q, true)`, "@"+awkward+"\n'\n"))
		compare(t, "Content-Type")
	})

	tab.run("query", func(t *testing.T) {
		tab.open("listUsers")
		tab.fill("role", awkward)
		compare(t)
	})

	tab.run("path and headers", func(t *testing.T) {
		tab.visit("/reference")
		tab.ready()
		tab.click(".authorize")
		tab.do(chromedp.SendKeys(chromedp.CSS(`.auth [data-scheme=bearerAuth]`), "it's $HOME"))
		tab.click(".auth .close")
		tab.click(`a[href="#op-getUser"]`)
		tab.click("#op-getUser .tools .button")
		tab.fill("id", awkward+"/../x")
		tab.fill("X-Trace", `'"$(id)`+"`id` \\")
		compare(t, "Authorization", "X-Trace")
	})

	tab.run("form", func(t *testing.T) {
		dir := t.TempDir()
		file := filepath.Join(dir, `it's "a";$(id) \,.png`)
		if err := os.WriteFile(file, []byte("picture"), 0o600); err != nil {
			t.Fatal(err)
		}
		tab.open("uploadAvatar")
		tab.do(chromedp.SetUploadFiles(chromedp.CSS(".try [type=file]"), []string{file}))
		tab.fill("title", "@"+awkward)
		tab.fill("tags", "<x\n;type=y")
		tab.send()
		want := parts(t, s.last(t))
		run(t, dir, tab.command())
		got := parts(t, s.last(t))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("form (-want +got):\n%s", diff)
		}
	})
}
