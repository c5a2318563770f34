// Package grpcx_test checks the dependencies of the module.
package grpcx_test

import (
	"os/exec"
	"strings"
	"testing"
)

const repository = "github.com/plinthgo/plinth/"

// TestDependencies checks the direct and indirect dependencies of the packages. Tests may
// import more.
func TestDependencies(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f",
		`{{.ImportPath}} {{join .Deps " "}}`, "./...")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	listed := 0
	for line := range strings.Lines(string(out)) {
		dependency := strings.Fields(line)
		listed++
		for _, path := range dependency[1:] {
			if reason := forbidden(path); reason != "" {
				t.Errorf("%s depends on %s: %s", dependency[0], path, reason)
			}
		}
	}
	if listed == 0 {
		t.Error("go list returned no packages")
	}
}

// forbidden returns the reason why the module must not depend on path, or "".
func forbidden(path string) string {
	rest, ours := strings.CutPrefix(path, repository)
	dir, _, _ := strings.Cut(rest, "/")
	switch {
	case strings.HasPrefix(path, "github.com/gin-gonic/"):
		return "a gRPC service must not link the web engine"
	case strings.HasPrefix(path, "gorm.io/"):
		return "a gRPC service must not link the ORM"
	case ours && dir != "core" && dir != "grpcx",
		ours && strings.HasPrefix(rest, "grpcx/protovalidate"):
		return "a plugin must not import another plugin"
	}
	return ""
}

func TestForbidden(t *testing.T) {
	for _, tc := range []struct {
		name string
		path string
		want bool
	}{
		{name: "the standard library", path: "net/http", want: false},
		{name: "grpc-go", path: "google.golang.org/grpc/codes", want: false},
		{name: "core", path: repository + "core/common/xlog", want: false},
		{name: "itself", path: repository + "grpcx/internal/call", want: false},
		{name: "the web engine", path: "github.com/gin-gonic/gin/binding", want: true},
		{name: "the ORM", path: "gorm.io/gorm", want: true},
		{name: "a driver of the ORM", path: "gorm.io/driver/postgres", want: true},
		{name: "a plugin", path: repository + "cacheplugins/redis", want: true},
		{name: "the nested module", path: repository + "grpcx/protovalidate", want: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := forbidden(tc.path) != ""; got != tc.want {
				t.Errorf("forbidden(%q) = %t, want %t", tc.path, got, tc.want)
			}
		})
	}
}
