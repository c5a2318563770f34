package catalog

func sqlite() Backend {
	return Backend{
		Name: "sqlite", Title: "SQLite", Kind: Database, Module: plugin("dbplugins", "sqlite"),
		Settings: []Setting{
			chosen("DATABASE_DRIVER", "sqlite"),
			{Key: "DATABASE_PATH", Local: "<name>.db"}, // the image has a folder of its own for it
		},
	}
}

func postgres() Backend {
	return Backend{
		Name: "postgres", Title: "PostgreSQL", Kind: Database, Module: plugin("dbplugins", "postgres"),
		Settings: server("postgres"), container: "postgres", volume: true,
	}
}

func mysql() Backend {
	return Backend{
		Name: "mysql", Title: "MySQL", Kind: Database, Module: plugin("dbplugins", "mysql"),
		Settings: server("mysql"), container: "mysql", volume: true,
	}
}

func sqlserver() Backend {
	b := Backend{
		Name: "sqlserver", Title: "SQL Server", Kind: Database, Module: plugin("dbplugins", "sqlserver"),
		Settings: server("sqlserver"), container: "sqlserver", volume: true,
	}
	for i := range b.Settings {
		if b.Settings[i].Key == "DATABASE_USER" { // the only user that the image has
			b.Settings[i].Local, b.Settings[i].Container = "sa", "sa"
		}
	}
	return b
}

func oracle() Backend {
	b := Backend{
		Name: "oracle", Title: "Oracle Database", Kind: Database, Module: plugin("dbplugins", "oracle"),
		Settings: server("oracle"), container: "oracle", volume: true,
	}
	for i := range b.Settings {
		if b.Settings[i].Key == "DATABASE_NAME" { // the pluggable database that the image has
			b.Settings[i] = Setting{Key: "DATABASE_SERVICE_NAME", Local: "FREEPDB1", Container: "FREEPDB1", Cluster: "FREEPDB1"}
		}
	}
	return b
}

// server is what the databases that are servers have in common.
func server(name string) []Setting {
	return []Setting{
		chosen("DATABASE_DRIVER", name),
		{Key: "DATABASE_HOST", Local: "localhost", Container: name, Cluster: name + ".data.svc.cluster.local"},
		{Key: "DATABASE_USER", Local: "<database>", Container: "<database>", Cluster: "<database>"},
		{Key: "DATABASE_PASS", Secret: "database-password"},
		{Key: "DATABASE_NAME", Local: "<database>", Container: "<database>", Cluster: "<database>"},
		{Key: "DATABASE_TLS", Cluster: "verify-full"},
		{Key: "DATABASE_MAX_OPEN_CONNS", Cluster: "10"},
		{Key: "LEASE_BACKEND", Cluster: "database"},
	}
}

func memory() Backend {
	return Backend{
		Name: "memory", Title: "in the process", Kind: Cache, Module: plugin("cacheplugins", "memory"),
		Settings: []Setting{chosen("NOSQL_DRIVER", "memory")},
	}
}

func redis() Backend {
	return Backend{
		Name: "redis", Title: "Redis", Kind: Cache, Module: plugin("cacheplugins", "redis"),
		container: "redis", volume: true,
		Settings: []Setting{
			chosen("NOSQL_DRIVER", "redis"),
			{Key: "NOSQL_HOST", Local: "localhost", Container: "redis", Cluster: "redis.data.svc.cluster.local"},
			{Key: "NOSQL_PASS", Secret: "redis-password"},
			{Key: "NOSQL_PREFIX", Local: "<name>:", Container: "<name>:", Cluster: "<name>:"},
		},
	}
}
