package scaffold_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
)

// repository returns the root of the repository. It skips the test outside of the
// repository.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "modules.txt")); err != nil {
		t.Skipf("outside of the repository: %v", err)
	}
	return root
}

func TestRender_BaseProto(t *testing.T) {
	want, err := os.ReadFile(filepath.Join(repository(t), "grpcx", "proto", "base.proto"))
	if err != nil {
		t.Fatal(err)
	}
	_, files := rendered(t, withAllFeatures("sqlite", "memory"))
	if !bytes.Equal(files["third_party/grpcx/proto/base.proto"], want) {
		t.Error("base.proto.tmpl differs from grpcx/proto/base.proto: copy it")
	}
}

// TestRender_GeneratedCode runs the tools of `make generate` with the configuration of
// the service.
func TestRender_GeneratedCode(t *testing.T) {
	bin := filepath.Join(repository(t), "bin")
	for _, tool := range []string{"buf", "protoc-gen-go", "protoc-gen-go-grpc"} {
		if _, err := os.Stat(filepath.Join(bin, tool)); err != nil {
			t.Skipf("%s is not built: make generate", tool)
		}
	}
	dir := newService(t, withAllFeatures("sqlite", "memory"))
	config := filepath.Join(dir, "buf.gen.yaml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	plugin := regexp.MustCompile(`\[go, run, \S+/(protoc-gen-[a-z-]+)@v[0-9.]+\]`)
	if found := plugin.FindAll(text, -1); len(found) != 2 {
		t.Fatalf("buf.gen.yaml runs %q", found)
	}
	if err := os.WriteFile(config, plugin.ReplaceAll(text, []byte(bin+"/$1")), 0o600); err != nil {
		t.Fatal(err)
	}
	before := tree(t, filepath.Join(dir, "api"))
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "buf"), "generate")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("buf generate: %v\n%s", err, out)
	}
	for file, code := range tree(t, filepath.Join(dir, "api")) {
		if code != before[file] {
			t.Errorf("%s is out of date; buf generates\n%s", file, code)
		}
	}
}

func TestRender_ToolVersions(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(repository(t), "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, files := rendered(t, withAllFeatures("sqlite", "memory"))
	runs := string(files["Makefile"]) + string(files["buf.gen.yaml"])
	for name, tool := range map[string]string{
		"LINT_AT": "golangci-lint", "BUF_AT": "buf", "PROTOC_GEN_GO_GRPC_AT": "protoc-gen-go-grpc",
		"PROTOC_GEN_GO_AT": "protoc-gen-go",
	} {
		want := regexp.MustCompile(name + ` +:= (\S+)`).FindSubmatch(makefile)
		if want == nil || !regexp.MustCompile(regexp.QuoteMeta(tool+"@"+string(want[1]))+
			`\b`).MatchString(runs) {
			t.Errorf("%s has another version than %s in the Makefile", tool, want)
		}
	}
}

func TestReadVersions(t *testing.T) {
	versions := requiredVersions(t)
	for _, b := range append(catalog.Databases(), catalog.Caches()...) {
		if versions[b.Module] == "" {
			t.Errorf("go.mod of plinth does not require %s", b.Module)
		}
	}
}
