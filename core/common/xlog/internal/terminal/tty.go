package terminal

import (
	"os"

	"github.com/mattn/go-isatty"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Is reports whether f is a terminal.
func Is(f *os.File) bool { return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()) }

// ColorWanted reports whether the environment leaves colours on: NO_COLOR (no-color.org)
// is not set to anything, and the terminal is not a dumb one.
func ColorWanted() bool {
	_, off := xenv.GetEnv("NO_COLOR")
	term, _ := xenv.GetEnv("TERM")
	return !off && term != "dumb"
}
