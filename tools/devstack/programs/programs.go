// Package programs finds the programs, other than servers, that tests use.
package programs

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// Program is an external program.
type Program struct {
	Name     string   // as in PLINTH_TEST_REQUIRE, such as "chromium"
	Packages []string // Debian packages of the program and its dependencies

	commands []string // alternative commands
}

// All returns the programs: npm, which installs the clients for the tests of the
// documentation, and a browser.
func All() []*Program {
	return []*Program{
		{Name: "node", commands: []string{"npm"}, Packages: []string{"nodejs", "npm"}},
		{
			Name: "chromium", commands: []string{"chromium", "chromium-browser", "google-chrome"},
			Packages: []string{"chromium", "fonts-noto-cjk"},
		},
	}
}

// Look returns nil if the program is installed, or an error with the packages to install.
func (p *Program) Look() error {
	if p.installed() {
		return nil
	}
	return fmt.Errorf("%s is not installed; on Debian or Ubuntu: apt-get install %s",
		p.commands[0], strings.Join(p.Packages, " "))
}

func (p *Program) installed() bool {
	return slices.ContainsFunc(p.commands, func(name string) bool {
		_, err := exec.LookPath(name)
		return err == nil
	})
}

// Packages returns the Debian packages of the missing programs.
func Packages() []string {
	var packages []string
	for _, p := range All() {
		if !p.installed() {
			packages = append(packages, p.Packages...)
		}
	}
	return packages
}
