package scaffold

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// standard are the first elements of the standard library's import paths, which no module
// can have.
var standard = strings.Fields(`archive arena bufio builtin bytes cmd cmp compress container context crypto database debug
	embed encoding errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin
	reflect regexp runtime slices sort strconv strings structs sync syscall testing text time unicode unique unsafe vendor
	weak`)

// CheckModule refuses a path that the go command would not take for a module of the
// user's own.
func CheckModule(name string) error {
	if name == "" {
		return errors.New("the module path is empty, such as example.com/shop")
	}
	if err := module.CheckImportPath(name); err != nil {
		return fmt.Errorf("%q is no module path, such as example.com/shop: %w", name, err)
	}
	first, _, _ := strings.Cut(name, "/")
	if slices.Contains(standard, first) {
		return fmt.Errorf("%q begins like a package of the standard library; take a path such as example.com/%s", name, path.Base(name))
	}
	if _, _, ok := module.SplitPathVersion(name); !ok {
		return fmt.Errorf("%q ends in a version that no module may have (v2 or later)", name)
	}
	return nil
}

var noLabel = regexp.MustCompile(`[^a-z0-9]+`)

// serviceName is what the service of a module is called: a DNS label, which containers,
// databases and clusters take.
func serviceName(modulePath string) string {
	prefix, _, _ := module.SplitPathVersion(modulePath)
	label := strings.Trim(noLabel.ReplaceAllString(strings.ToLower(path.Base(prefix)), "-"), "-")
	if label == "" || label[0] >= '0' && label[0] <= '9' {
		label = strings.TrimSuffix("service-"+label, "-")
	}
	if len(label) > maxLabel {
		label = strings.TrimRight(label[:maxLabel], "-")
	}
	if slices.Contains(containers, label) { // Compose could not tell the two apart
		label += "-service"
	}
	return label
}

// maxLabel leaves databases, whose names are shorter than a DNS label's 63 bytes, enough
// of it.
const maxLabel = 40

// containers are the names of the services that compose.yaml may hold beside this one.
var containers = []string{"postgres", "mysql", "oracle", "sqlserver", "redis", "mailpit"}
