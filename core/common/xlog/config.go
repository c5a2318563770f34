package xlog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/DeRuina/timberjack"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Format is the format of the lines on the console, as in LOG_FORMAT. Files always
// contain JSON. The zero value is FormatConsole if the writer is a terminal, else
// FormatJSON.
type Format string

// Formats of the console.
const (
	// FormatConsole is a human-readable format. It is colored if the writer is a
	// terminal.
	FormatConsole Format = "console"
	// FormatJSON is one JSON object per line.
	FormatJSON Format = "json"

	formatAuto Format = "" // LOG_FORMAT=auto
)

// Config configures an Engine. The zero value writes lines from slog.LevelInfo to
// standard output, and no files.
type Config struct {
	// Level is the lowest level that is written. Engine.SetLevel changes it later.
	Level slog.Level
	// Format is the format of the lines on Writer.
	Format Format
	// Writer receives one Write per line. If nil, it is os.Stdout. If it is a file that
	// may block, such as a pipe, a caller waits for at most one second. After that
	// second, up to 1 MiB of lines is queued, and further lines are dropped and counted.
	// Any other Writer must not block.
	Writer io.Writer
	// NoColor disables colors, like the environment variable NO_COLOR.
	NoColor bool

	// Dir is the directory of the log files. If empty, no files are written.
	Dir string
	// FileName is the name of the current file; rotated files have a time in their names.
	// If empty, it is app.log. If another process writes that file, the name is
	// app_2.log, and so on.
	FileName string
	// MaxSizeMB is the size in megabytes at which a file is rotated; 0 means 100. Files
	// are also rotated at midnight UTC.
	MaxSizeMB int
	// MaxAgeDays is the number of days that rotated files are retained; 0 means no limit.
	MaxAgeDays int
	// MaxBackups is the number of rotated files that are retained; 0 means all.
	MaxBackups int
	// Compress enables gzip compression of rotated files.
	Compress bool

	// MaskKeys are keys to mask in addition to the built-in ones; see AddMaskedKeys.
	MaskKeys []string
	// Clock returns the current time. If nil, it is time.Now.
	Clock func() time.Time
}

const noDir = "none"

// ConfigFromEnv reads LOG_LEVEL, LOG_FORMAT, LOG_DIR, LOG_MAX_SIZE, LOG_MAX_AGE,
// LOG_MAX_BACKUPS and LOG_COMPRESS. The error names every invalid variable; the Config
// then contains its default. In debug mode (PLINTH_DEBUG) the default level is debug.
func ConfigFromEnv() (Config, error) {
	v, problems := xenv.Load[variables](xenv.Environment())
	c := Config{
		Dir: v.Dir, MaxSizeMB: v.MaxSize, MaxAgeDays: v.MaxAge, MaxBackups: v.MaxBackups,
		Compress: v.Compress,
	}
	named := slices.IndexFunc(levelNames, func(l levelName) bool { return l.name == v.Level })
	c.Level = levelNames[named].level // Load rejects other names
	if v.Format != "auto" {
		c.Format = Format(v.Format)
	}
	if _, set := xenv.GetEnv("LOG_LEVEL"); !set && xenv.GetEnvBool(xenv.Debug, false) {
		c.Level = slog.LevelDebug
	}
	if c.Dir == noDir {
		c.Dir = ""
	}
	return c, problems
}

func (c Config) check() error {
	var problems []error
	if c.Format != formatAuto && c.Format != FormatConsole && c.Format != FormatJSON {
		problems = append(problems,
			fmt.Errorf("xlog: unknown format %q (accepted: FormatConsole, FormatJSON or empty)",
				c.Format))
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"MaxSizeMB", c.MaxSizeMB}, {"MaxAgeDays", c.MaxAgeDays}, {"MaxBackups", c.MaxBackups}} {
		if n.value < 0 {
			problems = append(problems, fmt.Errorf("xlog: %s is negative: %d", n.name, n.value))
		}
	}
	if strings.ContainsAny(c.FileName, `/\`) {
		problems = append(problems, fmt.Errorf("xlog: FileName %q is not a plain name", c.FileName))
	}
	return errors.Join(problems...)
}

const (
	defaultFileName  = "app.log"
	defaultMaxSizeMB = 100
	// maxAgeDays is a hundred years. timberjack counts an age in nanoseconds, and int64
	// limits it to 292 years.
	maxAgeDays = 36500

	fileMode fs.FileMode = 0o640
)

func (c Config) file() *timberjack.Logger {
	compression := "none"
	if c.Compress {
		compression = "gzip"
	}
	return &timberjack.Logger{
		Filename:    filepath.Join(c.Dir, cmp.Or(c.FileName, defaultFileName)),
		FileMode:    fileMode,
		MaxSize:     cmp.Or(c.MaxSizeMB, defaultMaxSizeMB),
		MaxAge:      min(c.MaxAgeDays, maxAgeDays),
		MaxBackups:  c.MaxBackups,
		Compression: compression,
		RotateAt:    []string{"00:00"},
	}
}
