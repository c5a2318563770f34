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

// driverOf returns the driver that a variable names, "" for none.
func driverOf(key xenv.EnvKey) string {
	if name := text(key); name != "none" {
		return name
	}
	return ""
}

// checkDrivers compares the plugins that the service's code imports with those that its
// environment names.
func (p *patient) checkDrivers(context.Context) []Finding {
	if !p.HasModule() {
		return []Finding{skipped("there is no module whose imports could be read")}
	}
	if p.CodeErr != nil {
		return []Finding{warning(fmt.Sprintf("what the service imports is not known: %v",
			p.CodeErr), "see what go list ./... says")}
	}
	found := []Finding{
		p.checkDriver(xenv.DatabaseDriver, service.DBPlugins, "db", xdb.Drivers()),
		p.checkDriver(xenv.NoSqlDriver, service.CachePlugins, "cache", xcache.Drivers()),
	}
	if text(xenv.NoSqlDriver) == "redis" && number("NOSQL_NEAR_MAX_ENTRIES") > 0 &&
		!p.Links(service.CachePlugins+"memory") {
		found = append(found, missingImport(
			"NOSQL_NEAR_MAX_ENTRIES asks for a near cache, which the memory backend holds",
			service.CachePlugins+"memory", "cache memory"))
	}
	return found
}

// checkDriver looks for the plugin of the driver that a variable names.
func (p *patient) checkDriver(key xenv.EnvKey, root, kind string, known []string) Finding {
	name := driverOf(key)
	path := root + name
	version := p.Requires(path)
	// a workspace has it without
	isOwn := p.Module == nil || strings.HasPrefix(p.Module.Module.Mod.Path+"/", service.Project)
	switch {
	case name == "":
		return skipped("%s is not set%s", key, p.importedOf(root))
	case p.Links(path) && version == "" && !isOwn:
		return problem(fmt.Sprintf("%s=%s: the code imports it, and go.mod does not require it",
			key, name), "go get "+path)
	case p.Links(path):
		return ok("%s=%s, and the code imports it", key, name)
	case version != "" && !p.IsComplete():
		return warning(fmt.Sprintf("%s=%s, and whether another module imports it is not known",
			key, name), "go mod download")
	case slices.Contains(known, name):
		return missingImport(fmt.Sprintf("%s=%s, and nothing that the service links imports it",
			key, name), path, kind+" "+name)
	default:
		return skipped("%s=%s is no driver of this project: whether it is imported is not known",
			key, name)
	}
}

func missingImport(detail, path, arguments string) Finding {
	return problem(detail, fmt.Sprintf(
		"plinth add %s, or add the line import _ %q and run go get %s", arguments, path, path))
}

// importedOf names the plugins of a family that the code imports.
func (p *patient) importedOf(root string) string {
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
