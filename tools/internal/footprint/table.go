package footprint

import (
	"fmt"
	"runtime"
	"strings"
)

// Table returns a Markdown table of the programs.
func (s Sizes) Table() string {
	var b strings.Builder
	b.WriteString("| Program | Size | Over gin or grpc-go | Linked modules |\n|---|---|---|---|\n")
	for _, p := range programs {
		m := s[p.folder]
		fmt.Fprintf(&b, "| %s | %.1f MB | %+.1f MB | %d |\n",
			p.shows, mb(m.bytes), mb(m.bytes-s[p.peer].bytes), m.modules)
	}
	b.WriteString("\n" + machine() + "\n")
	return b.String()
}

// Modules returns a Markdown table of the modules and the sizes that they add.
func (s Sizes) Modules() string {
	var b strings.Builder
	b.WriteString("| Module | Description | Adds to a program with `core` | Page |\n|---|---|---|---|\n")
	for _, m := range modules {
		var adds []string
		for _, w := range m.weights {
			with, without := s[w.program], s[w.without]
			adds = append(adds, fmt.Sprintf("%.1f MB, %s%s",
				mb(with.bytes-without.bytes), count(with.modules-without.modules), w.note))
		}
		if adds == nil {
			adds = []string{"–"}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n",
			m.name, m.what, strings.Join(adds, "; "), m.page)
	}
	b.WriteString("\nSize of the binary in megabytes, and number of linked modules. " + machine() + "\n")
	return b.String()
}

func count(modules int) string {
	if modules == 1 {
		return "1 module"
	}
	return fmt.Sprintf("%d modules", modules)
}

func machine() string {
	return fmt.Sprintf("Stripped binaries without cgo, %s, %s/%s.",
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func mb(bytes int64) float64 { return float64(bytes) / 1e6 }
