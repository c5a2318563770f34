package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// Tag returns the tag of a version, such as core/v0.1.0.
func (m Module) Tag(version string) string { return m.Name + "/" + version }

// Tags returns the tagged versions by module name, in ascending order. It ignores tags
// that are not a module name with a canonical version.
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
	if len(tags) == 0 {
		return tags, checkTags(ctx, root)
	}
	return tags, nil
}

// section matches the heading of a module version in the changelog.
var section = regexp.MustCompile(`(?m)^## (\S+) v\d`)

// checkTags returns an error if the clone lacks the tags of released versions. A
// changelog without tags is valid only before the first tags, with at most one version
// per module.
func checkTags(ctx context.Context, root string) error {
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	names, repeated := map[string]bool{}, false
	for _, found := range section.FindAllSubmatch(text, -1) {
		repeated = repeated || names[string(found[1])]
		names[string(found[1])] = true
	}
	if len(names) == 0 {
		return nil
	}
	shallow, err := exec.CommandContext(ctx, "git", "-C", root, "rev-parse",
		"--is-shallow-repository").Output()
	if err != nil {
		return fmt.Errorf("git rev-parse: %w", err)
	}
	if repeated || strings.TrimSpace(string(shallow)) == "true" {
		return errors.New("this clone lacks the tags of the versions in CHANGELOG.md: run git fetch --tags, or git fetch --unshallow --tags in a shallow clone")
	}
	return nil
}
