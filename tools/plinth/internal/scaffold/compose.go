package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

const composeFile = "compose.yaml"

// compose adds the container of the backend and preserves the rest of the file, including
// comments.
func (a *backendAdder) compose() error {
	if !a.backend.Server {
		return nil
	}
	text, err := a.read(composeFile)
	if err != nil || text == nil {
		return err
	}
	block, err := a.backend.Block(a.name)
	if err != nil {
		return err
	}
	var before composition
	if err := yaml.Unmarshal(text, &before); err != nil {
		return fmt.Errorf("%s: %w", composeFile, err)
	}
	if _, exists := before.Services[a.backend.Name]; exists {
		return nil
	}
	for _, secret := range a.backend.Secrets() {
		a.Left = append(a.Left, fmt.Sprintf("set %s, which %s requires", secret.Key, composeFile))
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	lines = appendTo(lines, "services", "\n"+strings.TrimRight(block, "\n"))
	if _, exists := before.Volumes[a.backend.Name]; !exists {
		lines = appendTo(lines, "volumes", "  "+a.backend.Name+":")
	}
	out := []byte(strings.Join(lines, "\n") + "\n")
	if services(out) != len(before.Services)+1 {
		a.Left = append(a.Left,
			fmt.Sprintf("add this to the services of %s, whose indentation is not two spaces:\n%s",
				composeFile, block))
		return nil
	}
	return a.write(composeFile, "container "+a.backend.Name, out)
}

// composition is the part of a Compose file that this package reads.
type composition struct {
	Services map[string]any `yaml:"services"`
	Volumes  map[string]any `yaml:"volumes"`
}

// services returns the number of services in a Compose file, or 0 if it is invalid YAML.
func services(text []byte) int {
	var c composition
	if yaml.Unmarshal(text, &c) != nil {
		return 0
	}
	return len(c.Services)
}

// appendTo appends text to the value of a top-level key, and adds the key if it is
// missing.
func appendTo(lines []string, key, text string) []string {
	begin := slices.IndexFunc(lines,
		func(l string) bool { return l == key+":" || strings.HasPrefix(l, key+": #") })
	if begin < 0 {
		return append(lines, "", key+":", text)
	}
	end := begin + 1
	for i, line := range lines[end:] {
		content := strings.TrimLeft(line, " ")
		if content == "" || strings.HasPrefix(content, "#") {
			continue
		}
		if content == line {
			break
		}
		end = begin + 2 + i
	}
	return slices.Insert(lines, end, text)
}
