package oracle_test

import (
	"testing"

	"github.com/plinthgo/plinth/dbplugins/oracle"
)

func TestDriver_Describe(t *testing.T) {
	for _, tc := range []struct{ name, dsn, want string }{
		{name: "service", dsn: "oracle://u:secret@db:1522/svc?SSL=false", want: "db:1522/svc"},
		{name: "IPv6", dsn: "oracle://u:secret@[::1]:1521/svc", want: "[::1]:1521/svc"},
		{
			name: "an escaped password", dsn: "oracle://u:s%40e%2Fcret@db:1521/svc",
			want: "db:1521/svc",
		},
		{
			name: "a line break in the service", dsn: "oracle://u:secret@db:1521/s%0Ax",
			want: "db:1521/s%0Ax",
		},
		{name: "a raw @ in the password", dsn: "oracle://u:sec@ret@db:1521/svc", want: ""},
		{name: "a raw / in the password", dsn: "oracle://u:12/secret@db:1521/svc", want: ""},
		{name: "a raw ? in the password", dsn: "oracle://u:12?secret@db:1521/svc", want: ""},
		{name: "a raw # in the password", dsn: "oracle://u:12#secret@db:1521/svc", want: ""},
		{name: "a raw @ and a raw /", dsn: "oracle://u:1@2/secret@db:1521/svc", want: ""},
		{name: "another form", dsn: "u/secret@db:1521/svc", want: ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := (oracle.Driver{}).Describe(tc.dsn); got != tc.want {
				t.Errorf("Describe = %q, want %q", got, tc.want)
			}
		})
	}
}
