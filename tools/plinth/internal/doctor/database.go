package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/migrate"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
	"github.com/plinthgo/plinth/tools/plinth/internal/sqlitefile"
)

// migrationFolder is where the recommended layout has the SQL files.
const migrationFolder = "internal/migration"

// checkDatabase connects as the service will, once.
func (p *patient) checkDatabase(ctx context.Context) []Finding {
	name := driverOf(xenv.DatabaseDriver)
	if name == "" {
		return []Finding{p.withoutDriver(xenv.DatabaseDriver, xenv.DatabaseDsn, xenv.DatabaseHost,
			xenv.DatabaseName, "DATABASE_PATH")}
	}
	if key := p.wrong(xenv.DatabasePort, xenv.DatabaseTLS); key != "" {
		return []Finding{skipped("%s is wrong", key)}
	}
	if !slices.Contains(xdb.Drivers(), name) {
		return []Finding{skipped("this program has no driver %q to connect with", name)}
	}
	o := xdb.NewOptions(xdb.FromEnv(), xdb.WithConnectTimeout(0), xdb.WithMaxOpenConns(2),
		xdb.WithSlowThreshold(0))
	db, err := xdb.Resolve(o)
	if err != nil {
		return problems(err, p.mendConfig(name))
	}
	return p.connect(ctx, o, db.String())
}

// problems makes a finding of each line of err.
func problems(err error, mend string) []Finding {
	lines := split(err)
	found := make([]Finding, len(lines))
	for i, line := range lines {
		found[i] = problem(line, mend)
	}
	return found
}

// mendConfig says what to do where the parts of a connection make no sense.
func (p *patient) mendConfig(name string) string {
	if path := text("DATABASE_PATH"); name == sqlite.Name && path != "" {
		if !sqlitefile.Exists(filepath.Dir(path)) {
			return "mkdir -p " + filepath.Dir(path)
		}
	}
	return "set it in .env or the environment; plinth env --group database lists what there is"
}

// withoutDriver speaks of a database or cache that no variable names, and warns where
// others say that one is meant.
func (p *patient) withoutDriver(driver xenv.EnvKey, others ...xenv.EnvKey) Finding {
	_, isSet := xenv.GetEnv(driver)
	for _, key := range others {
		if _, other := xenv.GetEnv(key); other && !isSet {
			return warning(fmt.Sprintf("%s is set, and %s is not: the service starts without",
				key, driver),
				fmt.Sprintf("set %s, or remove %s", driver, key))
		}
	}
	return skipped("%s is not set", driver)
}

func (p *patient) connect(ctx context.Context, o xdb.Options, where string) []Finding {
	if o.Driver == sqlite.Name {
		file, found := sqliteFile(o)
		if found != nil {
			return []Finding{*found}
		}
		o = file
	}
	ctx, warnings := listen(ctx)
	db, err := xdb.Open(ctx, o)
	if err != nil {
		return append([]Finding{problem(once(err), mendDatabase(o, err))}, warnings()...)
	}
	defer func() { _ = xdb.Close(db) }()
	p.readClock(ctx, db)
	found := append([]Finding{ok("%s answers", where)}, warnings()...)
	return append(found, p.pending(ctx, db)...)
}

// once is the text of an error of one attempt, of which libraries say that it was the
// last.
func once(err error) string {
	return strings.Replace(err.Error(), "gave up at attempt 1: ", "", 1)
}

// sqliteFile returns options that open the file and never make it, or what there is to
// say about it without.
func sqliteFile(o xdb.Options) (xdb.Options, *Finding) {
	var found Finding
	path := sqlitefile.Path(o)
	switch {
	case path == "":
		found = ok("a database in memory, new at every start")
	case sqlitefile.Exists(path):
		opened, err := sqlitefile.Unchanged(o, path)
		if err == nil {
			return opened, nil
		}
		found = problem(err.Error(), "correct DATABASE_PATH")
	case !sqlitefile.Exists(filepath.Dir(path)):
		found = problem(fmt.Sprintf("%s is in a folder that does not exist", path),
			"mkdir -p "+filepath.Dir(path))
	default:
		found = ok("%s is not there yet: the first start makes it", path)
	}
	return o, &found
}

// nameKeys are the variables that name the database of drivers which do not read
// DATABASE_NAME.
var nameKeys = map[string]xenv.EnvKey{
	sqlite.Name: "DATABASE_PATH",
	"oracle":    "DATABASE_SERVICE_NAME",
}

// tlsError finds what the encryption of a connection says of its failure.
var tlsError = regexp.MustCompile(`\b(tls|x509): |\bTLS\b`)

// mendDatabase says what to do about a connection that failed.
func mendDatabase(o xdb.Options, err error) string {
	isDSN := o.DSN != "" && o.Driver != sqlite.Name
	switch kind := driver.KindOf(err); {
	case kind == driver.TooManyConnections:
		return "close other connections, or raise the limit of the server, the database or the user"
	case isDSN && kind == driver.Connection:
		return fmt.Sprintf("correct %s, or start the server", xenv.DatabaseDsn)
	case isDSN:
		return fmt.Sprintf("correct %s", xenv.DatabaseDsn)
	case kind != driver.Authentication && tlsError.MatchString(err.Error()):
		return fmt.Sprintf("correct %s and %s, or the server's certificate",
			xenv.DatabaseTLS, xenv.DatabaseTLSCA)
	case kind == driver.Connection:
		return fmt.Sprintf("start the server, or correct %s and %s",
			xenv.DatabaseHost, xenv.DatabasePort)
	case kind == driver.Authentication:
		return fmt.Sprintf("correct %s and %s", xenv.DatabaseUser, xenv.DatabasePass)
	case kind == driver.UnknownDatabase:
		return fmt.Sprintf("create the database, or correct %s",
			cmp.Or(nameKeys[o.Driver], xenv.DatabaseName))
	default:
		return "plinth env --group database lists what there is to set"
	}
}

// pending says which migrations of the recommended folder the database does not have.
func (p *patient) pending(ctx context.Context, db *gorm.DB) []Finding {
	dir := filepath.Join(p.Root, filepath.FromSlash(migrationFolder))
	if files, err := filepath.Glob(filepath.Join(dir, "*.sql")); err != nil || len(files) == 0 {
		return nil
	}
	list, err := migrate.List(ctx, db, os.DirFS(dir))
	if err != nil {
		return []Finding{problem(strings.Join(split(err), "; "),
			"correct the files in "+migrationFolder)}
	}
	waiting := 0
	var found []Finding
	for _, m := range list {
		switch m.State {
		case migrate.Pending:
			waiting++
		case migrate.Applied, migrate.Running, migrate.Missing:
		default:
			found = append(found, problem(fmt.Sprintf("migration %s is %s", m.Name, m.State),
				"plinth migrate status says more"))
		}
	}
	if waiting > 0 {
		found = append(found, warning(
			fmt.Sprintf("%d of %d migrations in %s are pending",
				waiting, len(list), migrationFolder),
			"plinth migrate up, or the next start where the service is given them",
		))
	}
	return found
}
