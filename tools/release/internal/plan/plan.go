// Package plan determines the modules to release, their versions, and the versions of
// siblings that they must require.
package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/plinthgo/plinth/tools/release/internal/api"
	"github.com/plinthgo/plinth/tools/release/internal/git"
	"github.com/plinthgo/plinth/tools/release/internal/skew"
)

// A State is the reason why a module is in a plan.
type State string

// States of a module.
const (
	First     State = "first"   // it has no tag yet
	Changed   State = "changed" // its zip differs from the zip of its newest tag
	Follows   State = "follows" // it is unchanged, but must raise a requirement
	Unchanged State = "unchanged"
	// Unreleased modules are never published. They always require the newest versions of
	// their siblings.
	Unreleased State = "unreleased"
)

// A Bump is the part of a version that a release increments.
type Bump string

// Bumps. In v0, breaking changes and additions both increment the minor version.
const (
	None  Bump = ""
	Patch Bump = "patch"
	Minor Bump = "minor"
	Major Bump = "major"
)

// A Require is a requirement of a sibling and its change.
type Require struct {
	Module string `json:"module"`
	From   string `json:"from"`
	To     string `json:"to"` // the newest version if the requirement is kept
	Reason string `json:"reason"`
}

// A Module is the plan of a module.
type Module struct {
	Name     string    `json:"module"`
	State    State     `json:"state"`
	Released string    `json:"released,omitempty"` // the newest tag
	Next     string    `json:"next,omitempty"`     // "" if it is not released
	Bump     Bump      `json:"bump,omitempty"`
	Reasons  []string  `json:"reasons,omitempty"`
	API      api.Diff  `json:"api"`
	Raises   []Require `json:"raises,omitempty"`
	Keeps    []Require `json:"keeps,omitempty"`
	// "dbplugins/sqlite v0.1.0": released versions that fail with the next one
	Breaks    []string `json:"breaks,omitempty"`
	Notes     string   `json:"notes,omitempty"` // Markdown
	Fragments []string `json:"fragments,omitempty"`
	Problem   string   `json:"problem,omitempty"` // why it cannot be released
}

// A Plan describes the next release. Its JSON is the output of `release plan --json`.
type Plan struct {
	Commit  string     `json:"commit"`
	Clean   bool       `json:"clean"` // the working tree has no uncommitted changes
	Modules []Module   `json:"modules"`
	Skew    []skew.Run `json:"skew"`
	Skipped bool       `json:"skew_skipped,omitempty"`
}

// CheckUnchanged returns an error if the repository changed after the plan was made.
func (p *Plan) CheckUnchanged(ctx context.Context, repo git.Repo) error {
	head, err := repo.Head(ctx)
	if err != nil {
		return err
	}
	if head != p.Commit {
		return fmt.Errorf("the plan is for commit %s, but %s is checked out: repeat the command",
			p.Commit, head)
	}
	return repo.Clean(ctx)
}

// JSON writes the plan.
func (p *Plan) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(p)
}

// Problems returns the reasons why modules cannot be released.
func (p *Plan) Problems() []string {
	var problems []string
	for _, m := range p.Modules {
		if m.Problem != "" {
			problems = append(problems, m.Name+": "+m.Problem)
		}
	}
	return problems
}

// Options configures Make.
type Options struct {
	Modules  []string // names; empty selects all
	SkipSkew bool
	Log      func(format string, args ...any) // logs progress; may be nil
}

// Make returns the plan of the repository at root.
func Make(ctx context.Context, root string, o Options) (*Plan, error) {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	return build(ctx, root, o)
}
