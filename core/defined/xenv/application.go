package xenv

import (
	"path"
	"regexp"
	"runtime/debug"
)

const defaultName = "plinth"

// majorVersion matches the last element of a module path from version 2 on.
var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// ApplicationName returns APP_NAME. If it is not set, ApplicationName returns the last
// element of the main module's path without the major version: orders for
// example.com/shop/orders/v2.
func ApplicationName() string {
	if name, set := GetEnv(AppName); set {
		return name
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return defaultName
	}
	return moduleName(info.Main.Path)
}

func moduleName(module string) string {
	name := path.Base(module)
	if majorVersion.MatchString(name) {
		name = path.Base(path.Dir(module))
	}
	if name == "." || name == "/" || name == "command-line-arguments" {
		return defaultName
	}
	return name
}
