package xenv

import (
	"path"
	"regexp"
	"runtime/debug"
)

// unnamed is the name of a program that was built without a module.
const unnamed = "plinth"

// majorVersion is the last element of a module's path from version 2 on.
var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// ApplicationName returns APP_NAME. If it is not set, the name is the last element of the
// path of the program's main module, before a version: orders for
// example.com/shop/orders/v2.
func ApplicationName() string {
	if name, set := GetEnv(AppName); set {
		return name
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unnamed
	}
	return moduleName(info.Main.Path)
}

func moduleName(module string) string {
	name := path.Base(module)
	if majorVersion.MatchString(name) {
		name = path.Base(path.Dir(module))
	}
	if name == "." || name == "/" || name == "command-line-arguments" {
		return unnamed
	}
	return name
}
