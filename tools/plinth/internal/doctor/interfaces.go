package doctor

import (
	"fmt"
	"os"
	"regexp"

	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// interfaceVersion matches the constant of core, and the method of a driver that returns
// its interface version.
var interfaceVersion = regexp.MustCompile(
	`(?m)^(?:const InterfaceVersion = |func \(.*\) InterfaceVersion\(\) int \{\s*return )(\d+)\b`)

// checkInterfaces compares the driver interface version of core with that of each driver.
// It reads their source. Startup fails on the same mismatch.
func (p *target) checkInterfaces() []Finding {
	var found []Finding
	for family, driver := range map[string]string{
		service.DBPlugins:    "/major/xdb/driver",
		service.CachePlugins: "/major/xcache/driver",
	} {
		want := p.interfaceOf(service.Core + driver)
		for _, path := range p.Below(family) {
			have := p.interfaceOf(path)
			if want == "" || have == "" || want == have || p.Requires(path) == "" {
				continue
			}
			found = append(found, problem(
				fmt.Sprintf("%s implements version %s of the driver interface, but core has version %s", path, have, want),
				fmt.Sprintf("go get %s@latest %s@latest && go mod tidy", service.Core, path),
			))
		}
	}
	return found
}

// interfaceOf returns the interface version of a package, or "" if its source is missing.
// The default is version 1.
func (p *target) interfaceOf(path string) string {
	pkg := p.Package(path)
	if pkg == nil || len(pkg.Files()) == 0 {
		return ""
	}
	for _, name := range pkg.Files() {
		text, err := os.ReadFile(name)
		if err != nil {
			return ""
		}
		if match := interfaceVersion.FindSubmatch(text); match != nil {
			return string(match[1])
		}
	}
	return "1"
}
