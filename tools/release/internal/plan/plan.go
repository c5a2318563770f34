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
	First     State = "first"     // it has no tag yet
	Changed   State = "changed"   // its zip differs from that of its newest tag
	Follows   State = "follows"   // it has not changed, and what it requires has to be raised
	Unchanged State = "unchanged" // nothing has to be done
	// it is never published, and always takes its siblings' newest versions
	Unreleased State = "unreleased"
)

// A Bump is the part of a version that a release increments.
type Bump string

// The bumps, by what the API has become: v0 raises the minor number for what breaks and
// for what is added.
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
	To     string `json:"to"` // that to which it is raised; of one that is kept, the newest
	Reason string `json:"reason"`
}

// A Module is the plan of a module.
type Module struct {
	Name     string    `json:"module"`
	State    State     `json:"state"`
	Released string    `json:"released,omitempty"` // the newest tag
	Next     string    `json:"next,omitempty"`     // "" where it is not released
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
	Clean   bool       `json:"clean"` // the tree is that commit
	Modules []Module   `json:"modules"`
	Skew    []skew.Run `json:"skew"`
	Skipped bool       `json:"skew_skipped,omitempty"`
}

// Still returns an error if the repository changed while the plan was made.
func (p *Plan) Still(ctx context.Context, repo git.Repo) error {
	head, err := repo.Head(ctx)
	if err != nil {
		return err
	}
	if head != p.Commit {
		return fmt.Errorf("the plan is for %s, and meanwhile %s is checked out", p.Commit, head)
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

// Problems returns the reasons why modules cannot be released, one sentence each.
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
	Modules  []string // by name; none is all
	SkipSkew bool
	Log      func(format string, args ...any) // is told what happens; may be nil
}

// Make returns the plan of the repository at root.
func Make(ctx context.Context, root string, o Options) (*Plan, error) {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	return build(ctx, root, o)
}
