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

// Format is the form of the lines on the console, as LOG_FORMAT spells it. Files always
// hold JSON. The zero value is FormatConsole where the writer is a terminal, else
// FormatJSON.
type Format string

// The forms.
const (
	// FormatConsole is the form for people. It is coloured where the writer is a
	// terminal.
	FormatConsole Format = "console"
	// FormatJSON is one JSON object a line.
	FormatJSON Format = "json"

	formatAuto Format = "" // LOG_FORMAT=auto
)

// Config says what an engine writes, and where. The zero value writes to standard output
// from slog.LevelInfo on, and no files.
type Config struct {
	// Level is the lowest level that is written; Engine.SetLevel changes it later.
	Level slog.Level
	// Format is the form of the lines on Writer.
	Format Format
	// Writer takes one Write for each line. It is os.Stdout where nil. If it is a file
	// that may block, such as a pipe, a caller waits for it for a second at most; after
	// that, lines are queued up to 1 MiB, and dropped and counted beyond. Any other
	// Writer must not block.
	Writer io.Writer
	// NoColor switches colours off; so does the environment variable NO_COLOR.
	NoColor bool

	// Dir is the folder of the log files; "" writes none.
	Dir string
	// FileName is the name of the file that is written now; rotated ones have a time in
	// theirs. It is app.log where empty. Where another process writes it already, it is
	// app_2.log, and so on.
	FileName string
	// MaxSizeMB is the size in megabytes at which a file is rotated; 0 is 100. Files are
	// also rotated at midnight UTC.
	MaxSizeMB int
	// MaxAgeDays is how long rotated files are kept; 0 is for ever.
	MaxAgeDays int
	// MaxBackups is how many rotated files are kept; 0 is all.
	MaxBackups int
	// Compress says whether rotated files are compressed (gzip).
	Compress bool

	// MaskKeys are keys whose values are masked, beside the built-in ones; see
	// AddMaskedKeys.
	MaskKeys []string
	// Clock is time.Now where nil.
	Clock func() time.Time
}

// noDir is the value of LOG_DIR that switches files off.
const noDir = "none"

// ConfigFromEnv reads LOG_LEVEL, LOG_FORMAT, LOG_DIR, LOG_MAX_SIZE, LOG_MAX_AGE,
// LOG_MAX_BACKUPS and LOG_COMPRESS. The error names every variable that does not hold;
// the Config has that one's default then. In debug mode (PLINTH_DEBUG) the default level
// is debug.
func ConfigFromEnv() (Config, error) {
	v, problems := xenv.Load[variables](xenv.Environment())
	c := Config{
		Dir: v.Dir, MaxSizeMB: v.MaxSize, MaxAgeDays: v.MaxAge, MaxBackups: v.MaxBackups,
		Compress: v.Compress,
	}
	named := slices.IndexFunc(levelNames, func(l levelName) bool { return l.name == v.Level })
	c.Level = levelNames[named].level // Load accepts no other name
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

// check returns every problem of c.
func (c Config) check() error {
	var problems []error
	if c.Format != formatAuto && c.Format != FormatConsole && c.Format != FormatJSON {
		problems = append(problems,
			fmt.Errorf("xlog: unknown format %q (accepted: FormatConsole, FormatJSON, or none)",
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
	// maxAgeDays is a hundred years: timberjack counts an age in nanoseconds, which 64
	// bits hold for 292.
	maxAgeDays = 36500

	fileMode fs.FileMode = 0o640
)

// file returns what rotates the files in c.Dir.
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
