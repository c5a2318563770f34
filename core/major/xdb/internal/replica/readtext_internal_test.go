package replica

import "testing"

func Test_onlyReads(t *testing.T) {
	for _, tc := range []struct {
		name, sql, dialect string
		want               bool
	}{
		{name: "select", sql: "SELECT * FROM users WHERE id = ?", want: true},
		{name: "lower case after a comment", sql: "/* report */\n select 1;  -- done", want: true},
		{name: "common table expression", sql: "WITH n AS (SELECT 1) SELECT * FROM n", want: true},
		{
			name: "keywords in a string", sql: "SELECT 'delete it; for update' FROM users",
			want: true,
		},
		{name: "keywords in a name", sql: `SELECT "for" FROM users`, want: true},
		{
			name: "names that contain keywords", sql: "SELECT updated, information FROM updates",
			want: true,
		},
		{name: "empty statement", sql: " ; "},
		{name: "insert", sql: "INSERT INTO users VALUES (1) RETURNING id"},
		{
			name: "insert in a common table expression",
			sql:  "WITH n AS (INSERT INTO users VALUES (1) RETURNING id) SELECT * FROM n",
		},
		{
			name: "delete in a common table expression",
			sql:  "WITH n AS (delete FROM users RETURNING id) SELECT * FROM n",
		},
		{name: "for update", sql: "SELECT * FROM users FOR UPDATE"},
		{name: "for update with options", sql: "SELECT * FROM users for\tupdate SKIP LOCKED;"},
		{name: "for share", sql: "SELECT * FROM users FOR NO KEY UPDATE"},
		{
			name: "lock in share mode", sql: "SELECT * FROM users LOCK IN SHARE MODE",
			dialect: "mysql",
		},
		{name: "table hint", sql: "SELECT * FROM users WITH (UPDLOCK)", dialect: "sqlserver"},
		{name: "into", sql: "SELECT * INTO copies FROM users"},
		{name: "sequence", sql: "SELECT nextval('users_id')"},
		{name: "advisory lock", sql: "SELECT pg_try_advisory_lock(1)"},
		{name: "named lock", sql: "SELECT GET_LOCK('x', 1)", dialect: "mysql"},
		{name: "catalog", sql: "SELECT count(*) FROM information_schema.tables"},
		{
			name: "catalog of Oracle",
			sql: "SELECT COUNT(*) FROM all_tab_columns " +
				"WHERE owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')",
			dialect: "oracle",
		},
		{
			name: "table hint that locks a range", sql: "SELECT * FROM users WITH (SERIALIZABLE)",
			dialect: "sqlserver",
		},
		{name: "two statements", sql: "SELECT 1; SELECT 2"},
		{name: "an executed comment", sql: "SELECT 1 /*! FOR UPDATE */", dialect: "mysql"},
		{name: "unterminated string", sql: "SELECT 'x"},
		{name: "other statement", sql: "PRAGMA user_version"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := onlyReads(tc.sql, tc.dialect); got != tc.want {
				t.Errorf("onlyReads(%q) = %v, want %v", tc.sql, got, tc.want)
			}
		})
	}
}
