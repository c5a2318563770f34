package mysql_test

import (
	"testing"

	"github.com/plinthgo/plinth/dbplugins/mysql"
)

func TestDriver_Describe(t *testing.T) {
	for _, tc := range []struct{ name, dsn, want string }{
		{name: "address", dsn: "u:secret@tcp(db:3307)/n?charset=utf8mb4", want: "db:3307/n"},
		{name: "default port", dsn: "u:secret@tcp(db)/n", want: "db:3306/n"},
		{name: "IPv6", dsn: "u:secret@tcp([::1]:3306)/n", want: "[::1]:3306/n"},
		{
			name: "socket", dsn: "u:secret@unix(/run/mysqld/mysqld.sock)/n",
			want: "/run/mysqld/mysqld.sock/n",
		},
		{
			name: "special characters in the password", dsn: "u:s@e/c(r)?e#t@tcp(db:3306)/n",
			want: "db:3306/n",
		},
		{
			name: "line break in the name", dsn: "u:secret@tcp(db:3306)/n%0Ax",
			want: "db:3306/n%0Ax",
		},
		{name: "no address", dsn: "u:secret/n", want: ""},
		{name: "no address, parentheses in the password", dsn: "u:sec(ret)/n", want: ""},
		{name: "invalid DSN", dsn: "u:secret", want: ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := (mysql.Driver{}).Describe(tc.dsn); got != tc.want {
				t.Errorf("Describe = %q, want %q", got, tc.want)
			}
		})
	}
}
