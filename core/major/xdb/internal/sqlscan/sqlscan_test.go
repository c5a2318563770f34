package sqlscan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/major/xdb/internal/sqlscan"
)

// kinds are the letters of the token kinds: other, space, comment, literal, name, word,
// placeholder.
const kinds = "oscLNwp"

// scan returns the tokens of sql without space, each with the letter of its kind.
func scan(sql, dialect string) (tokens []string, open bool) {
	s := sqlscan.New(sql, sqlscan.RulesOf(dialect))
	for s.More() {
		t := s.Next()
		if t.Kind != sqlscan.Space {
			tokens = append(tokens, kinds[t.Kind:t.Kind+1]+":"+sql[t.Start:t.End])
		}
		open = open || t.Open
	}
	return tokens, open
}

func TestScanner_Next(t *testing.T) {
	t.Run("returns the tokens of the dialect", func(t *testing.T) {
		for _, tc := range []struct {
			name, dialect, sql string
			want               []string
		}{
			{
				name: "nested comments of postgres", dialect: "postgres", sql: "/* a /* ; */ b */;",
				want: []string{"c:/* a /* ; */ b */", "o:;"},
			},
			{
				name: "nested comments of sqlserver", dialect: "sqlserver", sql: "/*/**/*/;",
				want: []string{"c:/*/**/*/", "o:;"},
			},
			{
				name: "comments of sqlite do not nest", dialect: "sqlite", sql: "/* /* */;",
				want: []string{"c:/* /* */", "o:;"},
			},
			{
				name: "hash of mysql", dialect: "mysql", sql: "# it's\n;",
				want: []string{"c:# it's\n", "o:;"},
			},
			{
				name: "hash of postgres", dialect: "postgres", sql: "a # b",
				want: []string{"w:a", "o:#", "w:b"},
			},
			{
				name: "dashes of mysql", dialect: "mysql", sql: "5--3;-- x",
				want: []string{"L:5", "o:-", "o:-", "L:3", "o:;", "c:-- x"},
			},
			{
				name: "executed comment of mysql", dialect: "mysql", sql: "/*!40101 SET a = 1; */;",
				want: []string{"o:/*!40101 SET a = 1; */", "o:;"},
			},
			{
				name: "executed comment of mariadb", dialect: "mysql",
				sql:  "/*M!100100 a; */; /*m!*/",
				want: []string{"o:/*M!100100 a; */", "o:;", "c:/*m!*/"},
			},
			{
				name: "backslash of mysql", dialect: "mysql", sql: `'a\';' "b\";";`,
				want: []string{`L:'a\';'`, `L:"b\";"`, "o:;"},
			},
			{
				name: "backslash of postgres", dialect: "postgres", sql: `'a\';E'b\';'`,
				want: []string{`L:'a\'`, "o:;", `L:E'b\';'`},
			},
			{
				name: "dollar quotes", dialect: "postgres", sql: "$$;$x$;$$;$b$;$$;$b$",
				want: []string{"L:$$;$x$;$$", "o:;", "L:$b$;$$;$b$"},
			},
			{
				name: "dollar signs without quotes", dialect: "postgres", sql: "a$b$;$1$2",
				want: []string{"w:a", "p:$b", "p:$", "o:;", "p:$1", "p:$2"},
			},
			{
				name: "dollars of mysql", dialect: "mysql", sql: "$$;",
				want: []string{"p:$", "p:$", "o:;"},
			},
			{
				name: "brackets of sqlserver", dialect: "sqlserver", sql: "[a;]]b];",
				want: []string{"N:[a;]]b]", "o:;"},
			},
			{
				name: "brackets of postgres", dialect: "postgres", sql: "[1]",
				want: []string{"o:[", "L:1", "o:]"},
			},
			{
				name: "oracle quotes", dialect: "oracle", sql: "q'[it's;]';",
				want: []string{"L:q'[it's;]'", "o:;"},
			},
			{
				name: "no oracle quotes in postgres", dialect: "postgres", sql: "q'[it''s]'",
				want: []string{"L:q'[it''s]'"},
			},
			{
				name: "names", dialect: "postgres", sql: "\"a;\"\"\" `;`",
				want: []string{`N:"a;"""`, "N:`;`"},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				got, open := scan(tc.sql, tc.dialect)
				if !slices.Equal(got, tc.want) || open {
					t.Errorf("%s\n got %q, open %t\nwant %q", tc.sql, got, open, tc.want)
				}
			})
		}
	})

	t.Run("reports unterminated tokens", func(t *testing.T) {
		for _, tc := range []struct{ name, dialect, sql string }{
			{name: "string", sql: "a 'b"},
			{name: "escaped quote", dialect: "mysql", sql: `'a\'`},
			{name: "name", sql: `a "b`},
			{name: "bracket", dialect: "sqlserver", sql: "[a]]"},
			{name: "comment", sql: "/* a"},
			{name: "outer comment", sql: "/* /* */"},
			{name: "dollar quote", sql: "$a$ $b$"},
			{name: "oracle quote", dialect: "oracle", sql: "q'[a'"},
			{name: "oracle quote without a delimiter", dialect: "oracle", sql: "q'"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if got, open := scan(tc.sql, tc.dialect); !open {
					t.Errorf("tokens = %q, want an open token", got)
				}
			})
		}
	})
}

// FuzzTokens checks that the tokens cover the whole input in every dialect.
func FuzzTokens(f *testing.F) {
	for _, seed := range []string{
		"", "it's", `a\`, `"`, "`", "--", "/*", "*/", "$$", "$a$", "]", "q'[", "#", "1e-", "\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		for _, dialect := range []string{"", "mysql", "sqlite", "sqlserver", "oracle", "postgres"} {
			var all strings.Builder
			s := sqlscan.New(sql, sqlscan.RulesOf(dialect))
			for s.More() {
				token := s.Next()
				if token.End <= token.Start {
					t.Fatalf("%s: empty token at %d", dialect, token.Start)
				}
				all.WriteString(sql[token.Start:token.End])
			}
			if all.String() != sql {
				t.Errorf("%s: tokens = %q, want %q", dialect, all.String(), sql)
			}
		}
	})
}
