// Package grpcx_test holds the module as a whole to what it may link.
package grpcx_test

import (
	"os/exec"
	"strings"
	"testing"
)

const repository = "github.com/plinthgo/plinth/"

// TestNoPackageReachesTheWebEngineTheORMOrAnotherPlugin asks the go command for all that
// each package links, directly or not; tests may import more.
func TestNoPackageReachesTheWebEngineTheORMOrAnotherPlugin(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f",
		`{{.ImportPath}} {{join .Deps " "}}`, "./...")
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, problem.String())
	}
	listed := 0
	for line := range strings.Lines(string(out)) {
		reached := strings.Fields(line)
		listed++
		for _, path := range reached[1:] {
			if why := refused(path); why != "" {
				t.Errorf("%s reaches %s: %s", reached[0], path, why)
			}
		}
	}
	if listed == 0 {
		t.Error("go list named no package")
	}
}

// refused says why no package of this module may reach path, or "".
func refused(path string) string {
	rest, ours := strings.CutPrefix(path, repository)
	folder, _, _ := strings.Cut(rest, "/")
	switch {
	case strings.HasPrefix(path, "github.com/gin-gonic/"):
		return "a gRPC service does not link the web engine"
	case strings.HasPrefix(path, "gorm.io/"):
		return "a gRPC service does not link the ORM"
	case ours && (folder != "core" && folder != "grpcx" ||
		strings.HasPrefix(rest, "grpcx/protovalidate")):
		return "a plugin imports core and never another plugin"
	}
	return ""
}

// TestLayersRefuseABreach keeps the check above from passing whatever it reads.
func TestLayersRefuseABreach(t *testing.T) {
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
		{name: "the module inside this one", path: repository + "grpcx/protovalidate", want: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := refused(tc.path) != ""; got != tc.want {
				t.Errorf("refused(%q) = %t, want %t", tc.path, got, tc.want)
			}
		})
	}
}
