package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/docs"
)

func TestRun(t *testing.T) {
	tests := []struct {
		name      string
		arguments []string
		usage     bool
		want      string // in the error or the output
	}{
		{"no arguments", nil, true, "plinth-docs serve [--addr HOST:PORT]"},
		{
			"help",
			[]string{"--help"},
			false,
			"plinth-docs build [--base-url URL] [--dir DIR] OUTPUT",
		},
		{"help of a command", []string{"serve", "--help"}, false, "--origin ORIGIN"},
		{"an unknown command", []string{"sever"}, true, `unknown command "sever"`},
		{
			"an unknown flag",
			[]string{"mcp", "--addr", "x"},
			true,
			"flag provided but not defined: -addr",
		},
		{
			"build without a directory",
			[]string{"build"},
			true, "build requires one output directory",
		},
		{
			"an extra argument",
			[]string{"serve", "now"},
			true, `serve accepts no argument, got "now"`,
		},
		{
			"a missing directory",
			[]string{"serve", "--dir", "gone"},
			false, `"gone" is not a directory`,
		},
		{
			"no address",
			[]string{"serve", "--addr", "8080"},
			true,
			`--addr "8080": want HOST:PORT, such as 127.0.0.1:8080`,
		},
		{
			"an address of another host",
			[]string{"serve", "--addr", "192.0.2.1:8080"},
			false, `--addr "192.0.2.1:8080": `,
		},
		{
			"an invalid origin",
			[]string{"serve", "--origin", "example.org"},
			false,
			"want scheme://host or scheme://host:port",
		},
		{"version", []string{"version"}, false, "plinth-docs "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			err := run(t.Context(), tt.arguments, &out)
			text := out.String()
			if err != nil {
				text = err.Error()
			}
			if errors.Is(err, errUsage) != tt.usage || !strings.Contains(text, tt.want) {
				t.Errorf("run = %v, output %q; want usage %t and %q",
					err, out.String(), tt.usage, tt.want)
			}
		})
	}
}

func TestReachedAt(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:8080":      "http://127.0.0.1:8080",
		"docs.example.org:80": "http://docs.example.org:80", "[::1]:8080": "http://[::1]:8080",
		"localhost:http": "http://localhost:80", "localhost:+080": "http://localhost:80",
		":8080": "", "0.0.0.0:8080": "", "[::]:8080": "", "[::ffff:0.0.0.0]:8080": "",
		"127.0.0.1:0": "", "[fe80::1%lo]:8080": "", "docs_server:8080": "",
	} {
		host, port, err := readAddr(t.Context(), addr)
		if err != nil {
			t.Errorf("%s: %v", addr, err)
			continue
		}
		got := reachedAt(host, port)
		if got != want {
			t.Errorf("%s: got URL %q, want %q", addr, got, want)
		}
		if got == "" {
			continue
		}
		if _, err := docs.New(docs.WithBaseURL(got)); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

func TestReadAddr(t *testing.T) {
	for _, addr := range []string{
		"", ":", "nonsense", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999",
		"127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:nonsense", "::1:80", "[::1]",
		"http://127.0.0.1:8080", "h<script>:8080", "a b:80", "[::g]:80", "127.0.0.1:80/docs",
		"127.0.0.1:80:90",
	} {
		err := run(t.Context(), []string{"serve", "--addr", addr}, io.Discard)
		if err == nil || !strings.Contains(err.Error(),
			fmt.Sprintf("--addr %q: want HOST:PORT, such as 127.0.0.1:8080", addr)) ||
			strings.Contains(err.Error(), "WithBaseURL") {
			t.Errorf("%q: error = %v", addr, err)
		}
	}
}

func TestBuild(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "site")
	var out bytes.Buffer
	if err := run(t.Context(), []string{"build", dir}, &out); err != nil {
		t.Fatal(err)
	}
	if want := "written to " + dir + "\n"; out.String() != want {
		t.Errorf("output = %q, want %q", out.String(), want)
	}
	if _, err := os.Stat(filepath.Join(dir, "docs", "guide", "quick-start.md")); err != nil {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "guide"), 0o755); err != nil {
		t.Fatal(err)
	}
	page := "---\ntitle: Start\ndescription: Too short.\n---\n\n[gone](gone.md)\n"
	if err := os.WriteFile(filepath.Join(dir, "guide", "start.md"), []byte(page),
		0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := run(t.Context(), []string{"check", "--dir", dir}, &out)
	if err == nil || !strings.Contains(err.Error(), "findings") || !strings.Contains(out.String(),
		`guide/start.md:6: link "gone.md": the page does not exist`) {
		t.Errorf("check = %v, output %q", err, out.String())
	}
}
