package plan

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// decide sets the module's next version, if it needs a release.
func (b *builder) decide(row *Module, m workspace.Module) {
	if row.State == First {
		row.Next = m.Version
		row.Reasons = append(row.Reasons, "it has no tag; go.work contains "+m.Version)
		return
	}
	if row.State == Unchanged && len(row.Raises) > 0 {
		row.State = Follows
	}
	if row.State == Unchanged {
		return
	}
	since := b.stage.Stable(m)
	row.Bump = bump(row, since)
	for _, r := range row.Raises {
		row.Reasons = append(row.Reasons, r.Reason)
	}
	next := nextVersion(since, row.Bump)
	// not below the version of the prereleases
	if before := release(row.Released); semver.Compare(next, before) < 0 {
		next = before
	}
	switch {
	case b.hasNewVersion(row, m) && semver.Compare(release(m.Version), next) >= 0:
		row.Next = m.Version
		row.Reasons = append(row.Reasons, "go.work contains "+m.Version)
	case row.Bump == Major:
		row.Problem = fmt.Sprintf(
			"breaking API changes since %s: the next major version needs another import path, %s/%s",
			since, m.Path(), semver.Major(next))
	default:
		row.Next = next
	}
}

// hasNewVersion reports whether go.work contains an unpublished version of the module.
func (b *builder) hasNewVersion(row *Module, m workspace.Module) bool {
	return semver.Compare(m.Version, row.Released) > 0 && !b.stage.Tagged(m, m.Version)
}

// release returns the version without its prerelease part.
func release(version string) string {
	return strings.TrimSuffix(version, semver.Prerelease(version)+semver.Build(version))
}

// bump returns the version increment that the API changes require. In v0, minor versions
// may break the API. If since is "", there are only prereleases, and a patch is enough.
func bump(row *Module, since string) Bump {
	switch {
	case since == "":
		return Patch
	case len(row.API.Breaking) > 0 && semver.Major(since) != "v0":
		return Major
	case len(row.API.Breaking)+len(row.API.Added) > 0:
		return Minor
	}
	return Patch
}

// nextVersion returns the next version, or "" if version is "".
func nextVersion(version string, b Bump) string {
	if version == "" {
		return ""
	}
	var n [3]int
	for i, part := range strings.Split(strings.TrimPrefix(release(version), "v"), ".") {
		n[i], _ = strconv.Atoi(part)
	}
	switch b {
	case Major:
		n = [3]int{n[0] + 1, 0, 0}
	case Minor:
		n = [3]int{n[0], n[1] + 1, 0}
	case Patch, None:
		n[2]++
	}
	return fmt.Sprintf("v%d.%d.%d", n[0], n[1], n[2])
}
