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

// standard are the first elements of import paths of the standard library. A module path
// cannot start with them.
var standard = strings.Fields(`archive arena bufio builtin bytes cmd cmp compress container context crypto database debug
	embed encoding errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin
	reflect regexp runtime slices sort strconv strings structs sync syscall testing text time unicode unique unsafe vendor
	weak`)

// CheckModule returns an error if the go command does not accept name as the path of a
// user's module.
func CheckModule(name string) error {
	if name == "" {
		return errors.New("the module path is empty; use a path such as example.com/shop")
	}
	if err := module.CheckImportPath(name); err != nil {
		return fmt.Errorf("%q is not a valid module path, such as example.com/shop: %w", name, err)
	}
	first, _, _ := strings.Cut(name, "/")
	if slices.Contains(standard, first) {
		return fmt.Errorf("%q starts with a package of the standard library; use a path such as example.com/%s", name, path.Base(name))
	}
	if _, _, ok := module.SplitPathVersion(name); !ok {
		return fmt.Errorf("%q has an invalid version suffix (must be v2 or later)", name)
	}
	return nil
}

// nonLabel matches characters that a DNS label cannot contain.
var nonLabel = regexp.MustCompile(`[^a-z0-9]+`)

// serviceName returns the name of the service: a DNS label, valid for containers,
// databases and clusters.
func serviceName(modulePath string) string {
	prefix, _, _ := module.SplitPathVersion(modulePath)
	label := strings.Trim(nonLabel.ReplaceAllString(strings.ToLower(path.Base(prefix)), "-"), "-")
	if label == "" || label[0] >= '0' && label[0] <= '9' {
		label = strings.TrimSuffix("service-"+label, "-")
	}
	if len(label) > maxLabel {
		label = strings.TrimRight(label[:maxLabel], "-")
	}
	if slices.Contains(containers, label) { // Compose needs unique names
		label += "-service"
	}
	return label
}

// maxLabel is shorter than the 63 bytes of a DNS label, because database names are
// shorter.
const maxLabel = 40

// containers are the names of the other services in compose.yaml.
var containers = []string{"postgres", "mysql", "oracle", "sqlserver", "redis", "mailpit"}
