package xlog_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/core/common/xlog"
)

func clearEnv(t *testing.T) {
	for _, name := range []string{
		"LOG_LEVEL", "LOG_FORMAT", "LOG_DIR", "LOG_MAX_SIZE", "LOG_MAX_AGE", "LOG_MAX_BACKUPS",
		"LOG_COMPRESS", "PLINTH_DEBUG",
	} {
		t.Setenv(name, "")
	}
}

func TestConfigFromEnv(t *testing.T) {
	t.Run("reads the variables", func(t *testing.T) {
		defaults := xlog.Config{MaxSizeMB: 100, MaxAgeDays: 30, MaxBackups: 30, Compress: true}
		with := func(change func(*xlog.Config)) xlog.Config {
			c := defaults
			change(&c)
			return c
		}
		for _, tc := range []struct {
			name string
			env  map[string]string
			want xlog.Config
		}{
			{name: "defaults", want: defaults},
			{
				name: "debug mode", env: map[string]string{"PLINTH_DEBUG": "true"},
				want: with(func(c *xlog.Config) { c.Level = slog.LevelDebug }),
			},
			{
				name: "debug mode with a level",
				env:  map[string]string{"PLINTH_DEBUG": "true", "LOG_LEVEL": "notice"},
				want: with(func(c *xlog.Config) { c.Level = xlog.LevelNotice }),
			},
			{
				name: "no files", env: map[string]string{"LOG_DIR": "none"},
				want: with(func(c *xlog.Config) { c.Dir = "" }),
			},
			{
				name: "all variables",
				env: map[string]string{
					"LOG_LEVEL": "error", "LOG_FORMAT": "console", "LOG_DIR": "/l",
					"LOG_MAX_SIZE": "1", "LOG_MAX_AGE": "0", "LOG_MAX_BACKUPS": "2",
					"LOG_COMPRESS": "off",
				},
				want: xlog.Config{
					Level: slog.LevelError, Format: xlog.FormatConsole,
					Dir: "/l", MaxSizeMB: 1, MaxBackups: 2,
				},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				clearEnv(t)
				for k, v := range tc.env {
					t.Setenv(k, v)
				}
				got, err := xlog.ConfigFromEnv()
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("config mismatch (-want +got):\n%s", diff)
				}
			})
		}
	})

	t.Run("reports every problem and returns defaults", func(t *testing.T) {
		clearEnv(t)
		invalid := map[string]string{
			"LOG_LEVEL": "verbose", "LOG_FORMAT": "xml", "LOG_MAX_SIZE": "0", "LOG_MAX_AGE": "-1",
			"LOG_MAX_BACKUPS": "many", "LOG_COMPRESS": "zip",
		}
		for k, v := range invalid {
			t.Setenv(k, v)
		}
		c, err := xlog.ConfigFromEnv()
		if err == nil {
			t.Fatal("ConfigFromEnv returned no error")
		}
		if lines := strings.Split(err.Error(), "\n"); len(lines) != len(invalid) {
			t.Errorf("%d lines, want %d: %v", len(lines), len(invalid), err)
		}
		for k := range invalid {
			if !strings.Contains(err.Error(), k) {
				t.Errorf("%v does not contain %s", err, k)
			}
		}
		want := xlog.Config{MaxSizeMB: 100, MaxAgeDays: 30, MaxBackups: 30, Compress: true}
		if diff := cmp.Diff(want, c); diff != "" {
			t.Errorf("config mismatch (-want +got):\n%s", diff)
		}
	})

	t.Run("reads the format", func(t *testing.T) {
		for name, want := range map[string]xlog.Format{
			"auto":    "",
			"console": xlog.FormatConsole,
			"json":    xlog.FormatJSON,
		} {
			t.Setenv("LOG_FORMAT", name)
			if got, err := xlog.ConfigFromEnv(); err != nil || got.Format != want {
				t.Errorf("LOG_FORMAT=%s: format %v, %v", name, got.Format, err)
			}
		}
		t.Setenv("LOG_FORMAT", "xml")
		if _, err := xlog.ConfigFromEnv(); err == nil {
			t.Error("no error for LOG_FORMAT=xml")
		}
	})
}

func TestNew_InvalidConfig(t *testing.T) {
	e, err := xlog.New(xlog.Config{
		Format: "xml", MaxSizeMB: -1, MaxAgeDays: -2, MaxBackups: -3, FileName: "../x.log",
	})
	if err == nil || e != nil {
		t.Fatalf("New = %v, %v", e, err)
	}
	for _, want := range []string{
		`format "xml"`, "MaxSizeMB", "MaxAgeDays", "MaxBackups", "FileName",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not contain %s", err, want)
		}
	}
}
