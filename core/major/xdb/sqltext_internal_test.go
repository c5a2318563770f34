package xdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

func Test_withoutLiterals(t *testing.T) {
	t.Run("replaces literals and comments", func(t *testing.T) {
		for _, tc := range []struct{ name, dialect, sql, want string }{
			{
				name: "placeholders",
				sql:  "SELECT * FROM users2 WHERE a = ? AND b = $1 AND c = @p1 AND d = :name",
				want: "SELECT * FROM users2 WHERE a = ? AND b = $1 AND c = @p1 AND d = :name",
			},
			{
				name: "numbered placeholders of gorm", dialect: "postgres",
				sql: "a = $1$ AND b = $12$", want: "a = $1 AND b = $12",
			},
			{
				name: "numbered placeholders of sqlserver", dialect: "sqlserver",
				sql:  "a = $1$ AND b = $12$ OUTPUT $action",
				want: "a = @p1 AND b = @p12 OUTPUT $action",
			},
			{
				name: "a dollar sign in a string", dialect: "mysql", sql: "a = ? AND b = '$'",
				want: "a = ? AND b = ?",
			},
			{name: "strings", sql: "a = 'it''s' AND b = ''", want: "a = ? AND b = ?"},
			{
				name: "numbers", sql: "a = 1 AND b=-2.5e-3 OR c IN (0x1F,1_000,.5) LIMIT 10",
				want: "a = ? AND b=-? OR c IN (?,?,?) LIMIT ?",
			},
			{
				name: "names", sql: `SELECT "a 1", t1.c2 FROM "x""y" AS t1`,
				want: `SELECT "a 1", t1.c2 FROM "x""y" AS t1`,
			},
			{
				name: "names in backticks", sql: "SELECT `a 1` FROM `t`",
				want: "SELECT `a 1` FROM `t`",
			},
			{
				name: "strings next to backticks",
				sql:  "SELECT `a` FROM `t` WHERE `b` = \"secret\"",
				want: "SELECT `a` FROM `t` WHERE `b` = ?",
			},
			{
				name: "strings of sqlite", dialect: "sqlite", sql: `name = "secret"`,
				want: "name = ?",
			},
			{
				name: "strings of mysql", dialect: "mysql", sql: `a = "x""y" AND b = 'z'`,
				want: "a = ? AND b = ?",
			},
			{
				name: "backslash of mysql", dialect: "mysql", sql: `a = 'x\' OR b = 'secret'`,
				want: "a = ?",
			},
			{
				name: "backslash of postgres", dialect: "postgres", sql: `a = 'x\' OR b = 'y'`,
				want: "a = ? OR b = ?",
			},
			{
				name: "escape strings", dialect: "postgres", sql: `a = E'x\'y' OR b = 1`,
				want: "a = ?",
			},
			{
				name: "prefixes", sql: "a = N'x' AND b = X'00' AND c = B'1' AND d = e'z'",
				want: "a = ? AND b = ? AND c = ? AND d = ?",
			},
			{
				name: "brackets of sqlserver", dialect: "sqlserver",
				sql:  "SELECT [a 1] FROM [x]]y] WHERE z = 1",
				want: "SELECT [a 1] FROM [x]]y] WHERE z = ?",
			},
			{name: "arrays", dialect: "postgres", sql: "a = ARRAY[1,2]", want: "a = ARRAY[?,?]"},
			{
				name: "dollar quotes", dialect: "postgres",
				sql:  "DO $body$ secret $$ x $$ $body$ END",
				want: "DO ? END",
			},
			{
				name: "empty dollar quotes", dialect: "postgres", sql: "a = $$it's$$ AND b = $2",
				want: "a = ? AND b = $2",
			},
			{
				name: "oracle quotes", dialect: "oracle",
				sql:  "a = q'[it's]' AND b = Q'!x'y!' AND c = nq'(z)'",
				want: "a = ? AND b = ? AND c = ?",
			},
			{
				name: "comments", sql: "SELECT 1 -- secret\n+ /* 'secret' */ 2",
				want: "SELECT ?  +   ?",
			},
			{name: "a name before a string", sql: "date'2024-01-01'", want: "date?"},
			{name: "unterminated string", sql: "a = 'secret OR b = 1", want: "a = ?"},
			{name: "unterminated dollar quote", sql: "a = $x$secret", want: "a = ?"},
			{name: "unterminated comment", sql: "a /* secret", want: "a  "},
			{name: "unicode names", sql: "größe = 1 AND 名 = 'x'", want: "größe = ? AND 名 = ?"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if got := withoutLiterals(tc.sql, tc.dialect); got != tc.want {
					t.Errorf("%s\n got %q\nwant %q", tc.sql, got, tc.want)
				}
			})
		}
	})

	t.Run("truncates long statements", func(t *testing.T) {
		got := withoutLiterals("INSERT INTO t VALUES "+strings.Repeat("(?,?),", 5000), "")
		if len(got) > maxStatement+16 || !strings.HasSuffix(got, "…") {
			t.Errorf("statement has %d bytes and the suffix %q", len(got), got[len(got)-8:])
		}
	})
}

// FuzzWithoutLiterals quotes a string in the syntax of each database and checks that the
// output does not contain it.
func FuzzWithoutLiterals(f *testing.F) {
	for _, seed := range []string{
		"", "it's", `a\`, `"`, "`", "--", "/*", "$$", "]", "'; DROP", "q'[",
	} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "Zq7secretq7Z"
		value := before + secret + after
		if strings.Contains(before+after, "7") {
			t.Skip()
		}
		for _, tc := range []struct{ dialect, quoted string }{
			{"postgres", "'" + strings.ReplaceAll(value, "'", "''") + "'"},
			{"sqlserver", "N'" + strings.ReplaceAll(value, "'", "''") + "'"},
			{"oracle", "'" + strings.ReplaceAll(value, "'", "''") + "'"},
			{"sqlite", `"` + strings.ReplaceAll(value, `"`, `""`) + `"`},
			{"mysql", "'" + strings.ReplaceAll(value, "'", "''") + "'"},
			{"mysql", "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(value) + "'"},
		} {
			sql := "SELECT a FROM t WHERE b = " + tc.quoted + " AND c = " + tc.quoted
			if got := withoutLiterals(sql, tc.dialect); strings.Contains(got, secret) {
				t.Errorf("%s: withoutLiterals(%q) = %q", tc.dialect, sql, got)
			}
		}
	})
}

func Test_outcome(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		want string
	}{
		{
			name: "driver error",
			err:  driver.Translate(driver.Unique, errors.New("secret"), "uq_name"),
			want: "unique constraint violated: uq_name",
		},
		{
			name: "no row", err: fmt.Errorf("find: %w", gorm.ErrRecordNotFound),
			want: "record not found",
		},
		{
			name: "context ended",
			err:  &contextError{ctxErr: context.DeadlineExceeded, cause: errors.New("secret")},
			want: "context deadline exceeded",
		},
		{name: "unknown error", err: errors.New("secret"), want: "*errors.errorString"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := outcome(tc.err); got != tc.want {
				t.Errorf("outcome = %q, want %q", got, tc.want)
			}
		})
	}
}
