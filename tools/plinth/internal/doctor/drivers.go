package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// driverOf returns the driver that a variable selects, or "".
func driverOf(key xenv.EnvKey) string {
	if name := text(key); name != "none" {
		return name
	}
	return ""
}

// checkDrivers compares the drivers that the code imports with those that the environment
// selects.
func (p *target) checkDrivers(context.Context) []Finding {
	if !p.HasModule() {
		return []Finding{skipped("no go.mod, so the imports are unknown")}
	}
	if p.CodeErr != nil {
		return []Finding{warning(fmt.Sprintf("cannot read the imports of the service: %v",
			p.CodeErr), "run go list ./... and fix its errors")}
	}
	found := []Finding{
		p.checkDriver(xenv.DatabaseDriver, service.DBPlugins, "db", xdb.Drivers()),
		p.checkDriver(xenv.NoSqlDriver, service.CachePlugins, "cache", xcache.Drivers()),
	}
	if text(xenv.NoSqlDriver) == "redis" && number("NOSQL_NEAR_MAX_ENTRIES") > 0 &&
		!p.Links(service.CachePlugins+"memory") {
		found = append(found, missingImport(
			"NOSQL_NEAR_MAX_ENTRIES enables the near cache, which requires the memory driver",
			service.CachePlugins+"memory", "cache memory"))
	}
	return found
}

// checkDriver checks that the driver selected by a variable is imported.
func (p *target) checkDriver(key xenv.EnvKey, root, kind string, known []string) Finding {
	name := driverOf(key)
	path := root + name
	version := p.Requires(path)
	// in the workspace of Plinth, go.mod needs no requirement
	isOwn := p.Module == nil || strings.HasPrefix(p.Module.Module.Mod.Path+"/", service.Project)
	switch {
	case name == "":
		return skipped("%s is not set%s", key, p.importedOf(root))
	case p.Links(path) && version == "" && !isOwn:
		return problem(fmt.Sprintf(
			"%s=%s: the code imports the driver, but go.mod does not require it",
			key, name), "go get "+path)
	case p.Links(path):
		return ok("%s=%s, and the code imports the driver", key, name)
	case version != "" && !p.IsComplete():
		return warning(fmt.Sprintf(
			"%s=%s: modules are missing, so the import of the driver cannot be checked",
			key, name), "go mod download")
	case slices.Contains(known, name):
		return missingImport(fmt.Sprintf("%s=%s, but the driver is not imported",
			key, name), path, kind+" "+name)
	default:
		return skipped("%s=%s is a third-party driver: its import cannot be checked",
			key, name)
	}
}

func missingImport(detail, path, arguments string) Finding {
	return problem(detail, fmt.Sprintf(
		"run plinth add %s, or add import _ %q and run go get %s", arguments, path, path))
}

// importedOf lists the imported drivers below root.
func (p *target) importedOf(root string) string {
	var names []string
	for _, path := range p.Below(root) {
		if name := strings.TrimPrefix(path, root); !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (imported: " + strings.Join(names, ", ") + ")"
}
