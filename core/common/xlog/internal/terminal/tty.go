package terminal

import (
	"os"

	"github.com/mattn/go-isatty"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool {
	return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
}

// ColorEnabled reports whether the environment allows colors: NO_COLOR (no-color.org) is
// not set, and TERM is not dumb.
func ColorEnabled() bool {
	_, off := xenv.GetEnv("NO_COLOR")
	term, _ := xenv.GetEnv("TERM")
	return !off && term != "dumb"
}
