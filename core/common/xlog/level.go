package xlog

import (
	"fmt"
	"log/slog"
)

// Levels in addition to those of slog.
const (
	// LevelNotice is between slog.LevelInfo and slog.LevelWarn.
	LevelNotice slog.Level = 2
	// levelPanic is the level of a line before a panic.
	levelPanic slog.Level = 12
)

type levelName struct {
	level slog.Level
	name  string
}

var levelNames = []levelName{
	{slog.LevelDebug, "debug"},
	{slog.LevelInfo, "info"},
	{LevelNotice, "notice"},
	{slog.LevelWarn, "warn"},
	{slog.LevelError, "error"},
	{levelPanic, "panic"},
}

// levelText returns the name of the level, or the next lower name and the distance.
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
