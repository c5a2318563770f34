package scaffold

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"

	"golang.org/x/mod/modfile"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/tools/plinth/envtable"
)

// templates has the files of a service and those of an entity, at the paths that they
// get. NAME in a path is the entity's name.
//
//go:embed all:templates
var templates embed.FS

// Files are the texts of files, by their paths with slashes.
type Files map[string][]byte

// Paths returns the paths of the files, sorted.
func (f Files) Paths() []string { return slices.Sorted(maps.Keys(f)) }

// Render writes the whole service into memory.
func Render(s *Service) (Files, error) {
	files, err := renderAll("templates/service", "", s)
	if err != nil {
		return nil, err
	}
	own, err := renderEntity(note(s))
	if err != nil {
		return nil, err
	}
	maps.Copy(files, own)
	files[".env.example"] = []byte(envExample(s))
	files["go.mod"], err = renderModule(s)
	return files, err
}

// renderEntity writes the files of an entity into memory. No ending of their names means
// something to the go command: they have no underscore.
func renderEntity(e *entity) (Files, error) {
	return renderAll("templates/entity", strings.ToLower(e.Name), e)
}

// renderAll executes the templates below a folder. One that writes nothing makes no file.
func renderAll(folder, entityName string, data any) (Files, error) {
	files := Files{}
	err := fs.WalkDir(templates, folder, func(source string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(source, folder+"/"), ".tmpl")
		text, err := render(source, data)
		if len(text) > 0 {
			files[strings.ReplaceAll(name, "NAME", entityName)] = text
		}
		return err
	})
	return files, err
}

// render executes one template. Go code is formatted.
func render(source string, data any) ([]byte, error) {
	text, err := templates.ReadFile(source)
	if err != nil {
		return nil, err
	}
	t, err := template.New(source).Delims("[[", "]]").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		return nil, err
	}
	result := bytes.TrimSpace(out.Bytes())
	if len(result) == 0 {
		return nil, nil
	}
	result = append(result, '\n')
	if path.Ext(strings.TrimSuffix(source, ".tmpl")) != ".go" {
		return result, nil
	}
	code, err := format.Source(result)
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", source, err, result)
	}
	return code, nil
}

// goVersion is what the service's go.mod states: that of Plinth's own modules.
const goVersion = "1.26.0"

// renderModule writes go.mod: what the service imports, at the versions that this program
// was built with.
func renderModule(s *Service) ([]byte, error) {
	file := new(modfile.File)
	if err := file.AddModuleStmt(s.Module); err != nil {
		return nil, err
	}
	if err := file.AddGoStmt(goVersion); err != nil {
		return nil, err
	}
	for _, path := range slices.Compact(slices.Sorted(slices.Values(s.requirements()))) {
		version := s.Version(path)
		if version == "" {
			return nil, fmt.Errorf("no version of %s is known", path)
		}
		file.AddNewRequire(path, version, false)
	}
	return file.Format()
}

// envExample writes .env.example: every variable that the modules of the service read.
// What the backends set has a line of its own, and everything else its default in a
// comment.
func envExample(s *Service) string {
	set := map[string]string{}
	for _, b := range s.Backends() {
		for _, v := range b.Local(s.Name) {
			set[v.Key] = v.Value
		}
	}
	requirements := s.requirements()
	vars := slices.DeleteFunc(xenv.Table(), func(v xenv.Var) bool {
		return !slices.ContainsFunc(v.Packages, func(pkg string) bool {
			return slices.ContainsFunc(requirements,
				func(module string) bool { return within(module, pkg) })
		})
	})
	return envtable.Example(vars, func(v xenv.Var) string {
		if value, ok := set[v.Key.String()]; ok {
			return v.Key.String() + "=" + value
		}
		return envtable.Commented(v)
	})
}

// within reports whether an import path is that of a module, or below it.
func within(module, path string) bool {
	return path == module || strings.HasPrefix(path, module+"/")
}
