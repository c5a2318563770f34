package workspace

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// Tag returns the tag of a module's version: core/v0.1.0.
func (m Module) Tag(version string) string { return m.Name + "/" + version }

// Tags returns the versions of each module that have a tag in the repository at root, by the module's name, the oldest first.
// Tags that name no module and no canonical version are left out.
func Tags(ctx context.Context, root string) (map[string][]string, error) {
	cmd := exec.CommandContext(ctx, "git", "-C", root, "tag", "--list")
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the tags: %w: %s", err, strings.TrimSpace(problem.String()))
	}
	tags := map[string][]string{}
	for tag := range strings.FieldsSeq(string(out)) {
		i := strings.LastIndexByte(tag, '/')
		if i < 0 || semver.Canonical(tag[i+1:]) != tag[i+1:] {
			continue
		}
		tags[tag[:i]] = append(tags[tag[:i]], tag[i+1:])
	}
	for _, versions := range tags {
		slices.SortFunc(versions, semver.Compare)
	}
	return tags, nil
}
