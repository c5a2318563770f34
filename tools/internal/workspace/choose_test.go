package workspace_test

import (
	"testing"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func TestChoose(t *testing.T) {
	modules := []workspace.Module{{Name: "core"}, {Name: "tools"}}
	if got, err := workspace.Choose(modules, []string{"tools"}); err != nil || len(got) != 1 ||
		got[0].Name != "tools" {
		t.Errorf("Choose = %v, %v; want tools", got, err)
	}
	if _, err := workspace.Choose(modules, []string{"nowhere"}); err == nil {
		t.Error("an unknown module was accepted")
	}
}
