package xmain

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/mattn/go-isatty"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// terminal returns the writer for the banner, or nil if standard output is not a
// terminal.
var terminal = func() io.Writer {
	if isatty.IsTerminal(os.Stdout.Fd()) || isatty.IsCygwinTerminal(os.Stdout.Fd()) {
		return os.Stdout
	}
	return nil
}

// logReady logs that the service is ready and prints the banner to a terminal.
func (r *runner) logReady(addr net.Addr, banner string, elapsed time.Duration) {
	if w := terminal(); w != nil {
		_, _ = io.WriteString(w, banner)
	}
	r.log.Notice(r.appCtx, "ready",
		slog.String("app", xenv.ApplicationName()), slog.String("version", version()),
		slog.String("address", "http://"+addr.String()), slog.Duration("took", elapsed))
}

// banner returns the text of the banner.
func (r *runner) banner(addr net.Addr) string {
	_, plinth := buildVersions()
	rows := [][2]string{
		{"plinth", plinth},
		{"go", strings.TrimPrefix(runtime.Version(), "go") + ", gin " +
			strings.TrimPrefix(gin.Version, "v")},
		{"listen", "http://" + addr.String()},
	}
	for _, part := range r.reg.Parts() {
		rows = append(rows, [2]string{part.Name, part.Detail})
	}
	if r.reg.Settings().Serve.Debug {
		rows = append(rows, [2]string{"mode", "debug"})
		for _, route := range sortedRoutes(r.reg.Serve) {
			rows = append(rows,
				[2]string{"route", fmt.Sprintf("%-7s %s", route.Method, route.Path)})
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n  %s %s\n\n", xenv.ApplicationName(), version())
	for _, row := range rows {
		fmt.Fprintf(&b, "  %-10s %s\n", row[0], row[1])
	}
	b.WriteByte('\n')
	return b.String()
}

func sortedRoutes(engine *gin.Engine) gin.RoutesInfo {
	list := engine.Routes()
	slices.SortFunc(list, func(a, b gin.RouteInfo) int {
		return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method)
	})
	return list
}

// version returns the version of the application.
func version() string {
	version, _ := buildVersions()
	return xenv.GetEnvString(xenv.AppVersion, version)
}

// buildVersions returns the versions of the program and of Plinth from the build info.
func buildVersions() (program, plinth string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == "github.com/plinthgo/plinth/core" {
			return info.Main.Version, m.Version
		}
	}
	return info.Main.Version, "(unknown)"
}
