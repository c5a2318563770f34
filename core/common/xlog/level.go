package xlog

import (
	"fmt"
	"log/slog"
)

// Levels beside those of slog.
const (
	// LevelNotice lies between slog.LevelInfo and slog.LevelWarn.
	LevelNotice slog.Level = 2
	// levelPanic is the level of a line that a panic follows.
	levelPanic slog.Level = 12
)

// levelName is a level that has a name.
type levelName struct {
	level slog.Level
	name  string
}

// levelNames are all of them, as LOG_LEVEL and the lines spell them.
var levelNames = []levelName{
	{slog.LevelDebug, "debug"},
	{slog.LevelInfo, "info"},
	{LevelNotice, "notice"},
	{slog.LevelWarn, "warn"},
	{slog.LevelError, "error"},
	{levelPanic, "panic"},
}

// levelText returns how a line spells the level: its name, or the next lower name and the
// distance.
func levelText(level slog.Level) string {
	near := &levelNames[0]
	for i := range levelNames {
		switch l := &levelNames[i]; {
		case l.level == level:
			return l.name
		case l.level < level:
			near = l
		}
	}
	return fmt.Sprintf("%s%+d", near.name, int(level-near.level))
}
