package xlog

import (
	"os"

	"github.com/mattn/go-isatty"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

func isTerminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()) }

// colorWanted reports whether the environment leaves colours on: NO_COLOR (no-color.org) is not set to
// anything, and the terminal is not a dumb one.
func colorWanted() bool {
	_, off := xenv.GetEnv("NO_COLOR")
	term, _ := xenv.GetEnv("TERM")
	return !off && term != "dumb"
}
