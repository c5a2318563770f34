package oracle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/dbplugins/oracle"
)

func TestQuoted(t *testing.T) {
	for _, tc := range []struct{ name, want string }{
		{name: "users", want: `"USERS"`},
		{name: "app.users.id", want: `"APP"."USERS"."ID"`},
		{name: "USERS", want: `"USERS"`},
		{name: "Author__name", want: `"Author__name"`},
		{name: `"users"."Id"`, want: `"users"."Id"`},
		{name: "`users`.id", want: `"users"."ID"`},
		{name: "users.*", want: `"USERS".*`},
		{name: "level", want: `"LEVEL"`},
		{name: "größe", want: `"GRÖßE"`},
		{name: `x" FROM secrets --`, want: `"x FROM secrets --"`},
		{name: "a\x00b", want: `"AB"`},
	} {
		if got := oracle.Quoted(tc.name); got != tc.want {
			t.Errorf("%q = %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestTranslateType(t *testing.T) {
	for tag, want := range map[string]string{
		"text": "CLOB", "longtext": "CLOB", "bytea": "BLOB", "varchar(40)": "VARCHAR2(40 CHAR)",
		"VARCHAR2(40 CHAR)": "VARCHAR2(40 CHAR)", "VARCHAR2(40 BYTE)": "VARCHAR2(40 BYTE)",
		"varchar": "VARCHAR2(4000 CHAR)", "varchar(5000)": "CLOB", "bigint": "NUMBER(19)",
		"bigint unsigned": "NUMBER(19)",
		"integer":         "NUMBER(10)", "boolean": "NUMBER(1)", "decimal(20,4)": "NUMBER(20,4)",
		"numeric( 10 , 2 )": "NUMBER(10,2)", "number": "NUMBER",
		"decimal(10)": "NUMBER(10)", "double precision": "BINARY_DOUBLE",
		"datetime":                 "TIMESTAMP(6) WITH TIME ZONE",
		"timestamp(3)":             "TIMESTAMP(3) WITH TIME ZONE",
		"timestamp with time zone": "TIMESTAMP(6) WITH TIME ZONE", "date": "date",
		"char(2)": "CHAR(2 CHAR)", "NVARCHAR2(10)": "NVARCHAR2(10)", "raw(16)": "RAW(16)",
		"raw(3000)": "BLOB",
		"XMLTYPE":   "XMLTYPE", "NUMBER(10) CHECK (x > 0)": "NUMBER(10) CHECK (x > 0)",
	} {
		if got := oracle.TranslateType(tag); got != want {
			t.Errorf("%q = %q, want %q", tag, got, want)
		}
	}
}

// list returns n binds, starting at first.
func list(first, n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(":%d", first+i)
	}
	return strings.Join(names, ",")
}

func TestSplitLists(t *testing.T) {
	a, b := list(1, 1000), list(1001, 500)
	all := a + "," + b
	for _, tc := range []struct{ name, query, want string }{
		{"name", "WHERE id IN (" + all + ")", "WHERE (id IN (" + a + ") OR id IN (" + b + "))"},
		{
			"quoted", `WHERE "T"."ID" IN (` + all + ") AND x = :1501",
			`WHERE ("T"."ID" IN (` + a + `) OR "T"."ID" IN (` + b + ")) AND x = :1501",
		},
		{
			"not", "WHERE id NOT IN (" + all + ")",
			"WHERE (id NOT IN (" + a + ") AND id NOT IN (" + b + "))",
		},
		{"call", "WHERE lower(name) IN (" + all + ")", "WHERE lower(name) IN (" + all + ")"},
		{"expression", "WHERE (a + b) IN (" + all + ")", "WHERE (a + b) IN (" + all + ")"},
		{
			"expression without parentheses", "WHERE a || b IN (" + all + ")",
			"WHERE a || b IN (" + all + ")",
		},
		{"literal on the left", "WHERE 'x' IN (" + all + ")", "WHERE 'x' IN (" + all + ")"},
		{"named bind on the left", "WHERE :a IN (" + all + ")", "WHERE :a IN (" + all + ")"},
		{
			"in parentheses", "WHERE x = :1501 OR (id NOT /* one */ IN (" + all + "))",
			"WHERE x = :1501 OR ((id NOT IN (" + a + ") AND id NOT IN (" + b + ")))",
		},
		{
			"exactly a thousand", "WHERE id IN (" + list(2, 1000) + ")",
			"WHERE id IN (" + list(2, 1000) + ")",
		},
		{
			"bind on the left", "WHERE id + :1 > 1 AND f(:2) IN (" + list(3, 1001) + ")",
			"WHERE id + :1 > 1 AND f(:2) IN (" + list(3, 1001) + ")",
		},
		{
			"subquery", "WHERE id IN (SELECT x FROM y WHERE z = :1001)",
			"WHERE id IN (SELECT x FROM y WHERE z = :1001)",
		},
		{"literal", "WHERE a = 'id IN (:1,:1001)'", "WHERE a = 'id IN (:1,:1001)'"},
		{
			"comment", "/* id IN (" + all + ") */ SELECT 1 FROM DUAL",
			"/* id IN (" + all + ") */ SELECT 1 FROM DUAL",
		},
		{
			"pairs", "WHERE (a,b) IN ((:1,:2),(:1001,:1002))",
			"WHERE (a,b) IN ((:1,:2),(:1001,:1002))",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := oracle.SplitLists(tc.query); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", shorten(got), shorten(tc.want))
			}
		})
	}
}

func FuzzSplitLists(f *testing.F) {
	f.Add("WHERE id", uint16(1500), "")
	f.Add("WHERE lower(x) NOT", uint16(2001), " OR 'a''b' IN (:2002)")
	f.Add(":1001", uint16(1001), ") /* (")
	f.Fuzz(func(t *testing.T, before string, n uint16, after string) {
		query := before + " IN (" + list(1, int(n)%2500) + ")" + after
		if got := oracle.SplitLists(query); bindsOf(got) != bindsOf(query) {
			t.Errorf("binds of %q changed in %q", query, got)
		}
	})
}

// bindsOf returns the text after each colon.
func bindsOf(query string) string {
	var b strings.Builder
	for i, part := range strings.Split(query, ":") {
		if end := strings.IndexFunc(part,
			func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
			part = part[:end]
		}
		if i > 0 {
			b.WriteString(":" + part)
		}
	}
	return b.String()
}
