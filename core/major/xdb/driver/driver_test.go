package driver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

func TestConfig_Format(t *testing.T) {
	t.Run("masks the password in every format", func(t *testing.T) {
		c := driver.Config{Host: "h", Port: 5432, User: "u", Pass: "hunter2", Name: "n"}
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", c, "pointer", &c)
		text, err := json.Marshal(map[string]any{"config": c})
		if err != nil {
			t.Fatal(err)
		}
		output := fmt.Sprintf("%v %+v %#v %s %q %x", c, c, c, c, c, c) +
			fmt.Sprintf("%v %v", &c, []driver.Config{c}) + log.String() + string(text)
		if strings.Contains(output, "hunter2") || strings.Contains(output, "68756e74657232") {
			t.Errorf("the password appears in %s", output)
		}
		if got, want := c.String(),
			`{Host:h Port:5432 User:u Pass:*** Name:n TLS: TLSCA: Source:<nil>}`; got != want {
			t.Errorf("String = %s, want %s", got, want)
		}
	})
}

func TestMissing(t *testing.T) {
	err := driver.Missing(map[xenv.EnvKey]string{
		xenv.DatabaseName: "", xenv.DatabaseUser: "", xenv.DatabaseHost: "h",
	})
	if err == nil {
		t.Fatal("Missing = nil, want an error")
	}
	if got, want := err.Error(),
		"DATABASE_NAME: is not set\nDATABASE_USER: is not set"; got != want {
		t.Errorf("error = %q, want %q", got, want)
	}
	if err := driver.Missing(map[xenv.EnvKey]string{xenv.DatabaseHost: "h"}); err != nil {
		t.Errorf("error = %v, want nil", err)
	}
}

type libraryError struct{ code string }

func (e *libraryError) Error() string { return "library: alice@example.org " + e.code }

func TestTranslate(t *testing.T) {
	t.Run("sets the kind and the sentinel", func(t *testing.T) {
		cause := &libraryError{code: "23505"}
		for _, tc := range []struct {
			name     string
			kind     driver.ErrorKind
			sentinel error
			want     string
		}{
			{
				name: "unique", kind: driver.Unique, sentinel: gorm.ErrDuplicatedKey,
				want: "unique constraint violated: uq_email",
			},
			{
				name: "foreign key", kind: driver.ForeignKey, sentinel: gorm.ErrForeignKeyViolated,
				want: "foreign key constraint violated: uq_email",
			},
			{
				name: "check", kind: driver.Check, sentinel: gorm.ErrCheckConstraintViolated,
				want: "check constraint violated: uq_email",
			},
			{
				name: "not null", kind: driver.NotNull, sentinel: cause,
				want: "not-null constraint violated: uq_email",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				err := fmt.Errorf("wrapped: %w", driver.Translate(tc.kind, cause, "uq_email"))
				var own *libraryError
				if !errors.Is(err, tc.sentinel) || !errors.As(err, &own) || own.code != "23505" {
					t.Errorf("error = %v, want the sentinel and the cause", err)
				}
				if got := driver.KindOf(err); got != tc.kind {
					t.Errorf("kind = %v, want %v", got, tc.kind)
				}
				if got := err.Error(); got != "wrapped: "+tc.want {
					t.Errorf("text = %q, want %q", got, tc.want)
				}
				if again := driver.Translate(driver.Check, err, "x"); !errors.Is(again, err) ||
					driver.KindOf(again) != tc.kind {
					t.Errorf("second Translate = %v, want the error unchanged", again)
				}
			})
		}
	})

	t.Run("returns other errors unchanged", func(t *testing.T) {
		plain := errors.New("plain")
		for _, tc := range []struct {
			name string
			kind driver.ErrorKind
			err  error
		}{
			{name: "nil", kind: driver.Unique},
			{name: "unknown", kind: driver.Unknown, err: plain},
			{name: "out of range", kind: 200, err: plain},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if got := driver.Translate(tc.kind, tc.err, ""); got != tc.err { //nolint:errorlint // identity
					t.Errorf("Translate = %v, want %v", got, tc.err)
				}
			})
		}
	})
}

func TestErrorKind_String(t *testing.T) {
	seen := map[string]bool{}
	for k := driver.Unknown + 1; k <= driver.Full; k++ {
		if text := k.String(); text == "" || seen[text] {
			t.Errorf("kind %d has the text %q", k, text)
		} else {
			seen[text] = true
		}
	}
	if got := driver.ErrorKind(200).String(); got != driver.Unknown.String() {
		t.Errorf("text of kind 200 = %q, want that of Unknown", got)
	}
}

func TestKindTable(t *testing.T) {
	t.Run("inverts the table", func(t *testing.T) {
		table := driver.KindTable(map[driver.ErrorKind][]int{
			driver.Unique: {1, 2},
			driver.Full:   {3},
		})
		if len(table) != 3 || table[2] != driver.Unique || table[3] != driver.Full ||
			table[4] != driver.Unknown {
			t.Errorf("table = %v, want the kind of each number", table)
		}
	})
	t.Run("panics if a number has two kinds", func(t *testing.T) {
		defer func() {
			if got := recover(); got == nil || !strings.Contains(fmt.Sprint(got), "7") {
				t.Errorf("panic = %v, want the number", got)
			}
		}()
		driver.KindTable(map[driver.ErrorKind][]int{driver.Unique: {7}, driver.Full: {7}})
	})
}
