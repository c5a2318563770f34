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

// migrationFolder is the directory of the SQL files in the recommended layout.
const migrationFolder = "internal/migration"

// checkDatabase connects once, with the options that the service uses.
func (p *target) checkDatabase(ctx context.Context) []Finding {
	name := driverOf(xenv.DatabaseDriver)
	if name == "" {
		return []Finding{p.withoutDriver(xenv.DatabaseDriver, xenv.DatabaseDsn, xenv.DatabaseHost,
			xenv.DatabaseName, "DATABASE_PATH")}
	}
	if key := p.invalid(xenv.DatabasePort, xenv.DatabaseTLS); key != "" {
		return []Finding{skipped("%s is invalid", key)}
	}
	if !slices.Contains(xdb.Drivers(), name) {
		return []Finding{skipped("plinth has no driver %q", name)}
	}
	o := xdb.NewOptions(xdb.FromEnv(), xdb.WithConnectTimeout(0), xdb.WithMaxOpenConns(2),
		xdb.WithSlowThreshold(0))
	db, err := xdb.Resolve(o)
	if err != nil {
		return problems(err, p.fixForConfig(name))
	}
	return p.connect(ctx, o, db.String())
}

// problems returns one finding for each line of err.
func problems(err error, fix string) []Finding {
	lines := split(err)
	found := make([]Finding, len(lines))
	for i, line := range lines {
		found[i] = problem(line, fix)
	}
	return found
}

// fixForConfig returns the fix for an invalid connection configuration.
func (p *target) fixForConfig(name string) string {
	if path := text("DATABASE_PATH"); name == sqlite.Name && path != "" {
		if !sqlitefile.Exists(filepath.Dir(path)) {
			return "mkdir -p " + filepath.Dir(path)
		}
	}
	return "set it in .env or the environment; run plinth env --group database for the variables"
}

// withoutDriver returns the finding for an unset driver variable. It is a warning if one
// of the other variables is set.
func (p *target) withoutDriver(driver xenv.EnvKey, others ...xenv.EnvKey) Finding {
	_, isSet := xenv.GetEnv(driver)
	for _, key := range others {
		if _, other := xenv.GetEnv(key); other && !isSet {
			return warning(
				fmt.Sprintf("%s is set, but %s is not: the service starts without it", key, driver),
				fmt.Sprintf("set %s, or remove %s", driver, key))
		}
	}
	return skipped("%s is not set", driver)
}

func (p *target) connect(ctx context.Context, o xdb.Options, description string) []Finding {
	if o.Driver == sqlite.Name {
		file, found := sqliteFile(o)
		if found != nil {
			return []Finding{*found}
		}
		o = file
	}
	ctx, warnings := captureWarnings(ctx)
	db, err := xdb.Open(ctx, o)
	if err != nil {
		return append([]Finding{problem(singleAttempt(err), fixForDatabase(o, err))}, warnings()...)
	}
	defer func() { _ = xdb.Close(db) }()
	p.readClock(ctx, db)
	found := append([]Finding{ok("connected to %s", description)}, warnings()...)
	return append(found, p.pending(ctx, db)...)
}

// singleAttempt returns the text of err without the retry prefix, because only one
// attempt was made.
func singleAttempt(err error) string {
	return strings.Replace(err.Error(), "failed at attempt 1: ", "", 1)
}

// sqliteFile returns options that open an existing file without changing it, or a finding
// if there is no file to open.
func sqliteFile(o xdb.Options) (xdb.Options, *Finding) {
	var found Finding
	path := sqlitefile.Path(o)
	switch {
	case path == "":
		found = ok("an in-memory database, empty at each start")
	case sqlitefile.Exists(path):
		opened, err := sqlitefile.Unchanged(o, path)
		if err == nil {
			return opened, nil
		}
		found = problem(err.Error(), "correct DATABASE_PATH")
	case !sqlitefile.Exists(filepath.Dir(path)):
		found = problem(fmt.Sprintf("the directory of %s does not exist", path),
			"mkdir -p "+filepath.Dir(path))
	default:
		found = ok("%s does not exist yet; the service creates it", path)
	}
	return o, &found
}

// nameKeys maps drivers that do not read DATABASE_NAME to the variable that they read.
var nameKeys = map[string]xenv.EnvKey{
	sqlite.Name: "DATABASE_PATH",
	"oracle":    "DATABASE_SERVICE_NAME",
}

// tlsError matches errors of the TLS handshake.
var tlsError = regexp.MustCompile(`\b(tls|x509): |\bTLS\b`)

// fixForDatabase returns the fix for a failed connection.
func fixForDatabase(o xdb.Options, err error) string {
	isDSN := o.DSN != "" && o.Driver != sqlite.Name
	switch kind := driver.KindOf(err); {
	case kind == driver.TooManyConnections:
		return "close other connections, or increase the limit of the server, the database or the user"
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
		return "run plinth env --group database for the variables"
	}
}

// pending reports pending and failed migrations of the recommended directory.
func (p *target) pending(ctx context.Context, db *gorm.DB) []Finding {
	dir := filepath.Join(p.Root, filepath.FromSlash(migrationFolder))
	if files, err := filepath.Glob(filepath.Join(dir, "*.sql")); err != nil || len(files) == 0 {
		return nil
	}
	list, err := migrate.List(ctx, db, os.DirFS(dir))
	if err != nil {
		return []Finding{problem(strings.Join(split(err), "; "),
			"correct the files in "+migrationFolder)}
	}
	pending := 0
	var found []Finding
	for _, m := range list {
		switch m.State {
		case migrate.Pending:
			pending++
		case migrate.Applied, migrate.Running, migrate.Missing:
		default:
			found = append(found, problem(fmt.Sprintf("migration %s is %s", m.Name, m.State),
				"run plinth migrate status for details"))
		}
	}
	if pending > 0 {
		found = append(found, warning(
			fmt.Sprintf("%d of %d migrations in %s are pending",
				pending, len(list), migrationFolder),
			"run plinth migrate up, or pass them to xoptdatabase.WithMigrations and restart",
		))
	}
	return found
}
