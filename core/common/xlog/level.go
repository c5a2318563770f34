package xlog

import (
	"fmt"
	"log/slog"
)

// Levels beside those of slog.
const (
	// LevelNotice lies between slog.LevelInfo and slog.LevelWarn.
	LevelNotice slog.Level = 2
	// LevelPanic is the level of a line that a panic follows.
	LevelPanic slog.Level = 12
)

// levelNames are the levels that have a name, as LOG_LEVEL and the lines spell them.
var levelNames = []struct {
	level slog.Level
	name  string
}{
	{slog.LevelDebug, "debug"},
	{slog.LevelInfo, "info"},
	{LevelNotice, "notice"},
	{slog.LevelWarn, "warn"},
	{slog.LevelError, "error"},
	{LevelPanic, "panic"},
}

// parseLevel returns the level with this name.
func parseLevel(name string) (slog.Level, error) {
	for _, l := range levelNames {
		if l.name == name {
			return l.level, nil
		}
	}
	return 0, fmt.Errorf("xlog: unknown level %q", name)
}

// levelText returns how a line spells the level: its name, or the next lower name and the distance.
func levelText(level slog.Level) string {
	switch level {
	case slog.LevelDebug:
		return "debug"
	case slog.LevelInfo:
		return "info"
	case LevelNotice:
		return "notice"
	case slog.LevelWarn:
		return "warn"
	case slog.LevelError:
		return "error"
	case LevelPanic:
		return "panic"
	}
	near := levelNames[0]
	for _, l := range levelNames[1:] {
		if l.level <= level {
			near = l
		}
	}
	return fmt.Sprintf("%s%+d", near.name, int(level-near.level))
}
