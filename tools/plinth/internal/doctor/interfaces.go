package doctor

import (
	"fmt"
	"os"
	"regexp"

	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// interfaceVersion finds core's constant, and the method with which a driver says what it
// was written for.
var interfaceVersion = regexp.MustCompile(
	`(?m)^(?:const InterfaceVersion = |func \(.*\) InterfaceVersion\(\) int \{\s*return )(\d+)\b`)

// checkInterfaces compares the driver interface of core with what each plugin was written
// for, by their source. The same mismatch would end the start.
func (p *patient) checkInterfaces() []Finding {
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
				fmt.Sprintf("%s was written for version %s of the driver interface, and core has version %s", path, have, want),
				fmt.Sprintf("go get %s@latest %s@latest && go mod tidy", service.Core, path),
			))
		}
	}
	return found
}

// interfaceOf returns the version that a package says, "" where its source is not there.
// A driver that says none is of the first.
func (p *patient) interfaceOf(path string) string {
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
