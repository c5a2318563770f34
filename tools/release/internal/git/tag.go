package git

import (
	"context"
	"fmt"
	"strings"
)

// A Tag is an annotated tag.
type Tag struct{ Name, Message string }

// CreateTags creates annotated tags on a commit in one transaction. It never moves an
// existing tag.
func (r Repo) CreateTags(ctx context.Context, commit string, tags []Tag) error {
	if len(tags) == 0 {
		return nil
	}
	tagger, err := r.Run(ctx, "var", "GIT_COMMITTER_IDENT")
	if err != nil {
		return err
	}
	var refs strings.Builder
	refs.WriteString("start\n")
	for _, t := range tags {
		text := fmt.Sprintf("object %s\ntype commit\ntag %s\ntagger %s\n\n%s\n",
			commit, t.Name, tagger, strings.TrimRight(t.Message, "\n"))
		object, err := r.Feed(ctx, text, "mktag")
		if err != nil {
			return fmt.Errorf("tag %s: %w", t.Name, err)
		}
		fmt.Fprintf(&refs, "create refs/tags/%s %s\n", t.Name, object)
	}
	refs.WriteString("prepare\ncommit\n")
	_, err = r.Feed(ctx, refs.String(), "update-ref", "--stdin")
	return err
}

// DeleteTags deletes tags that CreateTags created.
func (r Repo) DeleteTags(ctx context.Context, tags []Tag) error {
	if len(tags) == 0 {
		return nil
	}
	var refs strings.Builder
	for _, t := range tags {
		fmt.Fprintf(&refs, "delete refs/tags/%s\n", t.Name)
	}
	_, err := r.Feed(ctx, refs.String(), "update-ref", "--stdin")
	return err
}

// PushTags pushes all tags or none. It fails if the remote has one of them on another
// commit.
func (r Repo) PushTags(ctx context.Context, remote string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	args := []string{"push", "--atomic", "--quiet", remote}
	for _, name := range names {
		args = append(args, "refs/tags/"+name+":refs/tags/"+name)
	}
	_, err := r.Run(ctx, args...)
	return err
}

// CommitOf returns the commit of a tag.
func (r Repo) CommitOf(ctx context.Context, tag string) (string, error) {
	return r.Run(ctx, "rev-parse", "refs/tags/"+tag+"^{commit}")
}
