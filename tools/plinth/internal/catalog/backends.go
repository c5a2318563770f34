package catalog

// Databases returns the databases, in the order of the prompt.
func Databases() []Backend {
	return []Backend{
		{
			Name: "sqlite", Title: "SQLite", Kind: Database, Module: Project + "/dbplugins/sqlite",
			// The Dockerfile sets the path for containers.
			Settings: []Setting{
				everywhere("DATABASE_DRIVER", "sqlite"),
				{Key: "DATABASE_PATH", Local: "<name>.db"},
			},
		},
		server("postgres", "PostgreSQL", "<database>", everywhere("DATABASE_NAME", "<database>")),
		server("mysql", "MySQL", "<database>", everywhere("DATABASE_NAME", "<database>")),
		// FREEPDB1 is the pluggable database of the container image.
		server("oracle", "Oracle Database", "<database>",
			everywhere("DATABASE_SERVICE_NAME", "FREEPDB1")),
		// sa is the only user of the container image.
		server("sqlserver", "SQL Server", "sa", everywhere("DATABASE_NAME", "<database>")),
	}
}

// server returns a database that runs as a server.
func server(name, title, user string, database Setting) Backend {
	return Backend{
		Name: name, Title: title, Kind: Database, Module: Project + "/dbplugins/" + name,
		Server: true,
		Settings: []Setting{
			everywhere("DATABASE_DRIVER", name),
			{
				Key: "DATABASE_HOST", Local: "localhost",
				Container: name, Cluster: name + ".data.svc.cluster.local",
			},
			{Key: "DATABASE_USER", Local: user, Container: user, Cluster: "<database>"},
			secret("DATABASE_PASS", "database-password"),
			database,
			{Key: "DATABASE_TLS", Cluster: "verify-full"},
			{Key: "DATABASE_MAX_OPEN_CONNS", Cluster: `"10"`},
			{Key: "LEASE_BACKEND", Cluster: "database"},
		},
	}
}

// Caches returns the caches, in the order of the prompt.
func Caches() []Backend {
	return []Backend{
		{
			Name: "memory", Title: "memory", Kind: Cache, Module: Project + "/cacheplugins/memory",
			Settings: []Setting{everywhere("NOSQL_DRIVER", "memory")},
		},
		{
			Name: "redis", Title: "Redis", Kind: Cache, Module: Project + "/cacheplugins/redis",
			Server: true,
			Settings: []Setting{
				everywhere("NOSQL_DRIVER", "redis"),
				{
					Key: "NOSQL_HOST", Local: "localhost", Container: "redis",
					Cluster: "redis.data.svc.cluster.local",
				},
				secret("NOSQL_PASS", "redis-password"),
				{
					Key:   "NOSQL_PREFIX",
					Local: "<name>:", Container: `"<name>:"`, Cluster: `"<name>:"`,
				},
			},
		},
	}
}

// Mailbox returns the mail server for development, which needs no password.
func Mailbox() Backend {
	return Backend{Name: "mailpit", Title: "Mailpit", Kind: Mail, Server: true, Settings: []Setting{
		{Key: "EMAIL_HOST", Local: "localhost", Container: "mailpit", Cluster: "smtp.example.org"},
		{Key: "EMAIL_PORT", Local: "1025", Container: `"1025"`, Cluster: `"587"`},
		{Key: "EMAIL_USER", Cluster: "<name>"},
		{Key: "EMAIL_PASS", Secret: "email-password"},
		everywhere("EMAIL_FROM", "<name>@example.org"),
		{Key: "EMAIL_TLS", Local: "none", Container: "none", Cluster: "starttls"},
	}}
}

// everywhere returns a variable with the same value in each environment.
func everywhere(key, value string) Setting {
	return Setting{Key: key, Local: value, Container: value, Cluster: value}
}

// secret returns a variable whose value the user sets.
func secret(key, name string) Setting {
	return Setting{Key: key, Local: empty, Container: "${" + key + ":?is not set}", Secret: name}
}
