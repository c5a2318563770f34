package openapi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oasdiff/oasdiff/checker"
	"github.com/oasdiff/oasdiff/diff"
	"github.com/oasdiff/oasdiff/load"
	"github.com/wI2L/jsondiff"
)

// Kind is the effect of a difference on clients.
type Kind string

// Values of Kind.
const (
	Breaking   Kind = "breaking"
	Compatible Kind = "compatible"
	Other      Kind = "other" // does not affect clients, such as a description
)

// Difference is a difference between two documents.
type Difference struct {
	Kind Kind `json:"kind"`
	// Rule is the name of the rule of oasdiff. It is empty for Other.
	Rule string `json:"rule,omitempty"`
	// At is the method and path of the operation, or a JSON pointer.
	At string `json:"at"`
	// What describes the difference.
	What string `json:"what"`
}

// OnlyBreaking returns the breaking changes.
func OnlyBreaking(all []Difference) []Difference {
	return slices.DeleteFunc(slices.Clone(all),
		func(d Difference) bool { return d.Kind != Breaking })
}

// stricter are the rules of oasdiff with another level than its default. Clients read
// optional properties, too.
var stricter = map[string]checker.Level{"response-optional-property-removed": checker.ERR}

// Compare returns the changes of the API from base to revision, the breaking changes
// first. It ignores descriptions, and the names of path parameters.
func Compare(base, revision []byte) ([]Difference, error) {
	from, err := parse(base)
	if err != nil {
		return nil, err
	}
	to, err := parse(revision)
	if err != nil {
		return nil, err
	}
	changes, sources, err := diff.GetWithOperationsSourcesMap(diff.NewConfig(), from, to)
	if err != nil {
		return nil, fmt.Errorf("compare the documents: %w", err)
	}
	config := checker.NewConfig(checker.GetAllChecks(), checker.WithSeverityLevels(stricter))
	found := checker.CheckBackwardCompatibilityUntilLevel(config, changes, sources, checker.INFO)
	translate := checker.NewDefaultLocalizer()
	all := make([]Difference, len(found))
	for i, c := range found {
		all[i] = Difference{
			Kind: Compatible, Rule: c.GetId(), What: c.GetUncolorizedText(translate),
			At: cmp.Or(strings.TrimSpace(c.GetOperation()+" "+c.GetPath()), c.GetSection()),
		}
		if c.GetLevel() >= checker.WARN {
			all[i].Kind = Breaking
		}
	}
	return all, nil
}

func parse(text []byte) (*load.SpecInfo, error) {
	spec, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	return &load.SpecInfo{Spec: spec}, nil
}

// All returns the changes of the API like Compare, and the descriptions that differ. If
// Compare finds no change, it returns all places of the documents that differ.
func All(base, revision []byte) ([]Difference, error) {
	all, err := Compare(base, revision)
	if err != nil {
		return nil, err
	}
	patch, err := jsondiff.CompareJSON(base, revision)
	if err != nil {
		return nil, fmt.Errorf("compare the documents: %w", err)
	}
	isEqual := len(all) == 0
	for _, operation := range patch {
		if isEqual || isDescription(operation.Path) {
			all = append(all, Difference{Kind: Other, At: operation.Path, What: edits[operation.Type]})
		}
	}
	return all, nil
}

// edits are the operations of a JSON patch.
var edits = map[string]string{
	jsondiff.OperationAdd: "added", jsondiff.OperationRemove: "removed",
	jsondiff.OperationReplace: "changed",
}

// descriptions are the keys of values that do not change the API.
var descriptions = []string{"description", "summary", "title", "example", "examples"}

// isDescription reports whether a JSON pointer refers to a description.
func isDescription(pointer string) bool {
	keys := strings.Split(pointer, "/")
	for i, key := range keys {
		if slices.Contains(descriptions, key) && keys[i-1] != "properties" {
			return true
		}
	}
	return false
}
