package git

import (
	"context"
	"fmt"
	"strings"
)

// A Tag is an annotated tag to be made.
type Tag struct{ Name, Message string }

// CreateTags makes annotated tags on a commit, all or none: the repository takes them in
// one transaction. One that exists is never moved.
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

// DeleteTags removes tags that CreateTags has made.
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

// PushTags publishes tags, all or none. One that the remote has elsewhere makes it refuse
// them all.
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

// CommitOf returns the commit to which a tag leads.
func (r Repo) CommitOf(ctx context.Context, tag string) (string, error) {
	return r.Run(ctx, "rev-parse", "refs/tags/"+tag+"^{commit}")
}
