package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// composeFiles are the names under which Compose finds its file, the first one that is there.
var composeFiles = []string{"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"}

// compose adds the backend's container. The text around it stays as it is, with its comments.
func (a *adding) compose() error {
	if !a.backend.Server() {
		return nil
	}
	for _, name := range composeFiles {
		text, err := a.read(name)
		if err != nil {
			return err
		}
		if text == nil {
			continue
		}
		out, err := a.withContainer(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if out == string(text) {
			return nil
		}
		for _, secret := range a.backend.Secrets() {
			a.left = append(a.left, fmt.Sprintf("set %s: %s asks for it", secret.Key, name))
		}
		return a.write(name, "container "+a.backend.Name, []byte(out))
	}
	return nil
}

// composition is what is asked of a Compose file.
type composition struct {
	Services map[string]any `yaml:"services"`
	Volumes  map[string]any `yaml:"volumes"`
}

func (a *adding) withContainer(text string) (string, error) {
	var before composition
	if err := yaml.Unmarshal([]byte(text), &before); err != nil {
		return "", err
	}
	if _, there := before.Services[a.backend.Name]; there {
		return text, nil
	}
	block, err := a.backend.Block(a.name)
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	lines = appendTo(lines, "services", strings.Split("\n"+strings.TrimRight(block, "\n"), "\n"))
	if v := a.backend.Volume(); v != "" {
		if _, there := before.Volumes[v]; !there {
			lines = appendTo(lines, "volumes", []string{"  " + v + ":"})
		}
	}
	out := strings.Join(lines, "\n") + "\n"
	var after composition
	if err := yaml.Unmarshal([]byte(out), &after); err != nil || len(after.Services) != len(before.Services)+1 {
		return "", fmt.Errorf("the services are written in a way that nothing can be added to; add by hand:\n%s", block)
	}
	return out, nil
}

// appendTo puts lines, indented by two, at the end of what a key of the top level holds, which it adds where it is missing.
func appendTo(lines []string, key string, more []string) []string {
	begin := slices.IndexFunc(lines, func(l string) bool { return l == key+":" || strings.HasPrefix(l, key+": #") })
	if begin < 0 {
		return append(append(lines, "", key+":"), more...)
	}
	end, indent := begin+1, 0
	for i := begin + 1; i < len(lines); i++ {
		line := lines[i]
		content := strings.TrimLeft(line, " ")
		if content == "" || strings.HasPrefix(content, "#") {
			continue
		}
		if content == line {
			break
		}
		if indent == 0 {
			indent = len(line) - len(content)
		}
		end = i + 1
	}
	return slices.Insert(lines, end, indented(more, indent)...)
}

// indented gives lines that are indented by multiples of two another step.
func indented(lines []string, step int) []string {
	if step == 0 || step == 2 {
		return lines
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		content := strings.TrimLeft(line, " ")
		if content != "" {
			out[i] = strings.Repeat(" ", (len(line)-len(content))/2*step) + content
		}
	}
	return out
}
