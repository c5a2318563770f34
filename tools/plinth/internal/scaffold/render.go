package scaffold

import (
	"bytes"
	"embed"
	"fmt"
	"maps"
	"path"
	"strings"
	"text/template"

	"golang.org/x/mod/modfile"
)

//go:embed templates
var templates embed.FS

// Files are the texts of files, by their paths with slashes.
type Files map[string][]byte

// Render writes the whole service into memory.
func Render(s *Service) (Files, error) {
	files := Files{}
	for _, p := range parts() {
		if !p.wanted(s) {
			continue
		}
		text, err := render(p.path, p.template, s.Module, s)
		if err != nil {
			return nil, err
		}
		files[p.path] = text
	}
	own, err := RenderEntity(note(s))
	if err != nil {
		return nil, err
	}
	maps.Copy(files, own)
	if files["go.mod"], err = renderModule(s); err != nil {
		return nil, err
	}
	files[".env.example"] = []byte(EnvExample(s))
	return files, nil
}

// RenderEntity writes the files of an entity into memory.
func RenderEntity(e *Entity) (Files, error) {
	files := Files{}
	for _, p := range entityParts {
		name := fmt.Sprintf(p.path, e.FileName())
		text, err := render(name, p.template, e.Module, e)
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	return files, nil
}

// render executes one template. Go code is formatted; code of a generator and texts without a place to fill in stay as
// they are.
func render(name, source, modulePath string, data any) ([]byte, error) {
	text, err := templates.ReadFile("templates/" + source + ".tmpl")
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, ".pb.go") {
		return text, nil
	}
	t, err := template.New(source).Delims("[[", "]]").Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		return nil, err
	}
	if path.Ext(name) != ".go" {
		return append(bytes.TrimSpace(out.Bytes()), '\n'), nil
	}
	code, err := formatCode(modulePath, out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", name, err, out.Bytes())
	}
	return code, nil
}

// goVersion is what the service's go.mod states: that of Plinth's own modules.
const goVersion = "1.26.0"

// renderModule writes go.mod: what the service imports, at the versions that this program was built with.
func renderModule(s *Service) ([]byte, error) {
	file := new(modfile.File)
	if err := file.AddModuleStmt(s.Module); err != nil {
		return nil, err
	}
	if err := file.AddGoStmt(goVersion); err != nil {
		return nil, err
	}
	for _, path := range s.requirements() {
		version := s.Version(path)
		if version == "" {
			return nil, fmt.Errorf("no version of %s is known", path)
		}
		file.AddNewRequire(path, version, false)
	}
	return file.Format()
}
