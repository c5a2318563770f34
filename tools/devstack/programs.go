package main

import (
	"os/exec"
	"slices"
)

// programs are those, other than servers, that tests start where they are on the machine: npm, which obtains Node.js and the
// clients of the documentation's tests, and a browser. One of the commands has to be there; the packages are Debian's.
var programs = []struct{ commands, packages []string }{
	{[]string{"npm"}, []string{"nodejs", "npm"}},
	{[]string{"chromium", "chromium-browser", "google-chrome"}, []string{"chromium", "fonts-noto-cjk"}},
}

// missingPrograms returns the packages of the programs that are not on this machine.
func missingPrograms() []string {
	var packages []string
	for _, p := range programs {
		found := slices.ContainsFunc(p.commands, func(name string) bool {
			_, err := exec.LookPath(name)
			return err == nil
		})
		if !found {
			packages = append(packages, p.packages...)
		}
	}
	return packages
}
