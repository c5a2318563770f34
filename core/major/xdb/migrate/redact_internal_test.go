package migrate

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/migrate/internal/sqlfile"
)

func Test_withoutValues(t *testing.T) {
	const sql = "INSERT INTO `users` (\"Name\", note, n) " +
		"VALUES ('it''s secret', N'hidden', 123456), ('ab', '', 7)"
	file := []sqlfile.Statement{{SQL: "SELECT 1"}, {SQL: sql}}
	for _, tc := range []struct{ name, text, want string }{
		{
			name: "keeps names",
			text: "Error 1050: Table 'app.users' has no column `note` and no \"name\"",
			want: "Error 1050: Table 'app.users' has no column `note` and no \"name\"",
		},
		{
			name: "removes quoted values", text: `invalid input "hidden" for 'ab'`,
			want: "invalid input ? for ?",
		},
		{
			name: "removes bare values", text: "cannot convert hidden or 123456",
			want: "cannot convert ? or ?",
		},
		{
			name: "removes a value with a quote", text: "cannot convert it's secret",
			want: "cannot convert ?",
		},
		{name: "removes a value in SQL syntax", text: "near it''s secret,", want: "near ?,"},
		{
			name: "removes a value of another statement", text: "key 'x@example.org' is there",
			want: "key ? is there",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cause := errors.New(tc.text)
			err := withoutValues(cause, file, "", "sqlserver")
			if err.Error() != tc.want || !errors.Is(err, cause) {
				t.Errorf("error = %q, want %q and the cause in its chain", err, tc.want)
			}
		})
	}
	known := driver.Translate(driver.Syntax, errors.New("x"), "near 'hidden'")
	got := withoutValues(known, file, "", "")
	if got.Error() != "invalid statement: near ?" || driver.KindOf(got) != driver.Syntax {
		t.Errorf("error = %v, want the same kind without the value", got)
	}
	prefixed := []sqlfile.Statement{{SQL: "DELETE FROM ${prefix}users"}}
	got = withoutValues(errors.New(`no relation "app_users"`), prefixed, "app_", "postgres")
	if got.Error() != `no relation "app_users"` {
		t.Errorf("error = %v, want the name with its prefix", got)
	}
	const block = "DO $do$ BEGIN RAISE EXCEPTION 'hidden of %', $q$more$q$; END $do$"
	file = []sqlfile.Statement{{SQL: block}}
	got = withoutValues(errors.New(`hidden of more in "do"`), file, "", "postgres")
	if got.Error() != `?? in "do"` {
		t.Errorf("error = %v, want it without the contents of dollar quotes", got)
	}
}

func Test_errorText(t *testing.T) {
	for _, tc := range []struct{ name, text string }{
		{name: "short", text: "größe"},
		{name: "long", text: strings.Repeat("x", 5000)},
		{name: "long and wide", text: "x" + strings.Repeat("数", 5000)},
		{name: "invalid UTF-8", text: strings.Repeat("\xff\xfe", 5000)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := errorText(errors.New(tc.text))
			if len(got) > maxErrorText || !utf8.ValidString(got) ||
				len(got) < min(len(tc.text), maxErrorText-6) && tc.name != "invalid UTF-8" {
				t.Errorf("text has %d bytes, valid %t: %.20q", len(got), utf8.ValidString(got), got)
			}
			if len(tc.text) <= maxErrorText && got != tc.text {
				t.Errorf("text = %q, want %q", got, tc.text)
			}
		})
	}
}
