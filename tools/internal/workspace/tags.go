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

// Tag returns the tag of a module's version: core/v0.1.0.
func (m Module) Tag(version string) string { return m.Name + "/" + version }

// Tags returns the versions of each module that have a tag in the repository at root, by
// the module's name, the oldest first. Tags that name no module and no canonical version
// are left out.
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
		return tags, published(ctx, root)
	}
	return tags, nil
}

// section begins what the changelog says of a version of a module.
var section = regexp.MustCompile(`(?m)^## (\S+) v\d`)

// published refuses a clone without the tags of what was released: everything would seem
// to be new. Only before the first tags does the changelog tell of versions that have
// none, and of one for each module.
func published(ctx context.Context, root string) error {
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	told, again := map[string]bool{}, false
	for _, found := range section.FindAllSubmatch(text, -1) {
		again = again || told[string(found[1])]
		told[string(found[1])] = true
	}
	if len(told) == 0 {
		return nil
	}
	shallow, err := exec.CommandContext(ctx, "git", "-C", root, "rev-parse",
		"--is-shallow-repository").Output()
	if err != nil {
		return fmt.Errorf("git rev-parse: %w", err)
	}
	if again || strings.TrimSpace(string(shallow)) == "true" {
		return errors.New("this clone lacks the tags of the versions that CHANGELOG.md has: git fetch --tags, and in a shallow one git fetch --unshallow --tags")
	}
	return nil
}
