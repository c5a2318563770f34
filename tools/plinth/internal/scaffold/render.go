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

// templates contains the files of services and entities at their paths. NAME in a path is
// replaced by the name of the entity.
//
//go:embed all:templates
var templates embed.FS

// Files maps slash-separated paths to file contents.
type Files map[string][]byte

// Paths returns the sorted paths.
func (f Files) Paths() []string { return slices.Sorted(maps.Keys(f)) }

// Render returns the files of the service.
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

// renderEntity returns the files of an entity. Their names contain no underscore, because
// the go command interprets suffixes such as _linux.
func renderEntity(e *entity) (Files, error) {
	return renderAll("templates/entity", strings.ToLower(e.Name), e)
}

// renderAll executes the templates below folder. A template without output creates no
// file.
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

// render executes a template and formats Go code.
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

// goVersion is the Go version in go.mod, which is that of the modules of Plinth.
const goVersion = "1.26.0"

// renderModule returns go.mod. It requires the imported modules at the versions that this
// program was built with.
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
			return nil, fmt.Errorf("the version of %s is unknown", path)
		}
		file.AddNewRequire(path, version, false)
	}
	return file.Format()
}

// envExample returns .env.example with every variable that the modules of the service
// read. Variables of the backends are assignments, others are comments with their
// default.
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

// within reports whether an import path belongs to a module.
func within(module, path string) bool {
	return path == module || strings.HasPrefix(path, module+"/")
}
