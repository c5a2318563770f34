package service

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
)

// Defaults returns what the service's code gives as xOption.WithEnvDefaults: the pairs of a literal map whose values are plain
// texts. What is computed can only be known by running the service, and is left out.
func (s *Service) Defaults() (map[xEnv.EnvKey]string, error) {
	found := map[xEnv.EnvKey]string{}
	err := s.walk(func(path string) {
		file, _ := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if file == nil {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && lastName(call.Fun) == "WithEnvDefaults" && len(call.Args) == 1 {
				pairs(call.Args[0], found)
			}
			return true
		})
	})
	return found, err
}

// pairs adds those of a literal map.
func pairs(e ast.Expr, to map[xEnv.EnvKey]string) {
	literal, ok := e.(*ast.CompositeLit)
	if !ok {
		return
	}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, known := keyOf(pair.Key)
		value, plain := textOf(pair.Value)
		if known && plain {
			to[key] = value
		}
	}
}

// keyOf finds the variable of a key, which is a constant of xEnv or its text.
func keyOf(e ast.Expr) (xEnv.EnvKey, bool) {
	if text, ok := textOf(e); ok {
		return xEnv.EnvKey(text), true
	}
	name := strings.ToLower(lastName(e))
	for _, v := range xEnv.Table() {
		plain := strings.ToLower(strings.ReplaceAll(v.Key.String(), "_", ""))
		if name == plain || "plinth"+name == plain {
			return v.Key, true
		}
	}
	return "", false
}

func textOf(e ast.Expr) (string, bool) {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil
}

// lastName is the name behind the last dot.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	default:
		return ""
	}
}
