package cli

import (
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// buildInfo is the build information of the program.
type buildInfo struct {
	Version string   `json:"version"`
	Commit  string   `json:"commit,omitempty"`
	Go      string   `json:"go"`
	System  string   `json:"system"`
	Modules []module `json:"modules"`
}

type module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

func newVersion(p *term.Printer, versions scaffold.Versions) *cobra.Command {
	return &cobra.Command{
		Use:               "version",
		Short:             "Print the version of plinth and of the modules of new services",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			b := readBuild(versions)
			if p.JSON {
				return p.WriteJSON(b)
			}
			p.Note("plinth %s", strings.TrimSpace(b.Version+" "+b.Commit))
			p.Note("%s %s", b.Go, b.System)
			for _, m := range b.Modules {
				p.Note("%s %s", m.Path, m.Version)
			}
			return nil
		},
	}
}

// readBuild returns the build information. Modules lists the versions that new services
// use.
func readBuild(versions scaffold.Versions) buildInfo {
	b := buildInfo{
		Version: "(unknown)",
		Go:      runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			b.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Commit = s.Value[:min(len(s.Value), 12)]
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(versions)) {
		if strings.HasPrefix(path, service.Project) {
			b.Modules = append(b.Modules, module{Path: path, Version: versions[path]})
		}
	}
	return b
}
