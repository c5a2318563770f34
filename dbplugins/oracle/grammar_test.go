package oracle_test

import (
	sqldriver "database/sql/driver"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

type sqlValue = sqldriver.Value

var (
	literals = regexp.MustCompile(`'(?:[^']|'')*'`)
	binds    = regexp.MustCompile(`:(\d+)`)
	inList   = regexp.MustCompile(`(?i)\bIN \((:\d+(?:,:\d+)*)\)`)
)

// unsupported matches syntax that Oracle does not support, or not before 23ai.
var unsupported = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"a backtick", regexp.MustCompile("`")},
	{"a question mark", regexp.MustCompile(`\?`)},
	{"LIMIT", regexp.MustCompile(`(?i)\bLIMIT\b`)},
	{
		"AS before the alias of a table",
		regexp.MustCompile(`(?i)(\bFROM|\bJOIN) ("[^"]+"|\w+|\([^()]*\)) AS\b`),
	},
	{"FETCH with FOR UPDATE", regexp.MustCompile(`ROWS ONLY (ORDER BY [^()]* )?FOR UPDATE`)},
	{"IF EXISTS", regexp.MustCompile(`(?i)\bIF (NOT )?EXISTS\b`)},
	{"TRUE or FALSE", regexp.MustCompile(`(?i)\b(TRUE|FALSE)\b`)},
	{"DEFAULT VALUES", regexp.MustCompile(`(?i)DEFAULT VALUES`)},
	{"several rows of VALUES", regexp.MustCompile(`(?i)VALUES \([^()]*\),\(`)},
	{"NOT NULL before DEFAULT", regexp.MustCompile(`(?i)NOT NULL DEFAULT`)},
	{"ON UPDATE", regexp.MustCompile(`(?i)ON UPDATE`)},
	{"ON DELETE RESTRICT", regexp.MustCompile(`(?i)ON DELETE (RESTRICT|NO ACTION)`)},
	{
		"RETURNING outside of a block",
		regexp.MustCompile(`(?s)^(INSERT|UPDATE|DELETE|MERGE).*RETURNING`),
	},
	{"RELEASE SAVEPOINT", regexp.MustCompile(`(?i)^RELEASE`)},
	{"an empty list", regexp.MustCompile(`\bIN \(\)`)},
	{
		"a bind that go-ora does not accept",
		regexp.MustCompile(`which go-ora does not accept|of another zone`),
	},
}

// checkGrammar searches a statement for invalid syntax. It does not prove that a
// statement is valid.
func checkGrammar(t *testing.T, name, line string) {
	t.Helper()
	query, kinds, _ := strings.Cut(line, "\n-- ")
	plain := literals.ReplaceAllString(query, "''")
	for _, w := range unsupported {
		if w.pattern.MatchString(plain + "\n" + kinds) {
			t.Errorf("%s: %s in %s", name, w.name, shorten(line))
		}
	}
	if block := strings.HasPrefix(query, "BEGIN") ||
		strings.HasPrefix(query, "DECLARE"); block != strings.HasSuffix(query, ";") {
		t.Errorf("%s: a semicolon is valid at the end of a block only: %s", name, shorten(line))
	}
	for i, m := range binds.FindAllStringSubmatch(plain, -1) {
		if m[1] != fmt.Sprint(i+1) {
			t.Errorf("%s: bind %d is written :%s: %s", name, i+1, m[1], shorten(line))
			break
		}
	}
	count := 0
	if kinds != "" {
		count = strings.Count(kinds, ", ") + 1
	}
	if n := len(binds.FindAllString(plain, -1)); n != count {
		t.Errorf("%s: %d binds for %d values: %s", name, n, count, shorten(line))
	}
	for _, m := range inList.FindAllStringSubmatch(plain, -1) {
		if n := strings.Count(m[1], ":"); n > 1000 {
			t.Errorf("%s: a list of %d items", name, n)
		}
	}
}
