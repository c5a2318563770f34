// Package programs knows the programs, other than servers, that tests start where they
// are on the machine.
package programs

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// Program is one program.
type Program struct {
	Name     string   // in PLINTH_TEST_REQUIRE and in tables, as "chromium"
	Packages []string // of Debian, with the program and what it needs for the tests

	commands []string // one of which has to be there
}

// All returns the programs: npm, which obtains Node.js and the clients of the
// documentation's tests, and the browser.
func All() []*Program {
	return []*Program{
		{Name: "node", commands: []string{"npm"}, Packages: []string{"nodejs", "npm"}},
		{
			Name: "chromium", commands: []string{"chromium", "chromium-browser", "google-chrome"},
			Packages: []string{"chromium", "fonts-noto-cjk"},
		},
	}
}

// Look returns nil where the program is on this machine. The error says what to install.
func (p *Program) Look() error {
	if p.there() {
		return nil
	}
	return fmt.Errorf("there is no %s on this machine; on Debian or Ubuntu: apt-get install %s",
		p.commands[0], strings.Join(p.Packages, " "))
}

func (p *Program) there() bool {
	return slices.ContainsFunc(p.commands, func(name string) bool {
		_, err := exec.LookPath(name)
		return err == nil
	})
}

// Packages returns the Debian packages of the programs that are not on this machine.
func Packages() []string {
	var packages []string
	for _, p := range All() {
		if !p.there() {
			packages = append(packages, p.Packages...)
		}
	}
	return packages
}
