package git

import (
	"context"
	"errors"
	"fmt"
)

// A Tag is an annotated tag to be made.
type Tag struct{ Name, Message string }

// CreateTags makes annotated tags on a commit, all or none. One that exists is never moved.
func (r Repo) CreateTags(ctx context.Context, commit string, tags []Tag) error {
	for i, t := range tags {
		if _, err := r.Feed(ctx, t.Message, "tag", "--annotate", "--cleanup=verbatim", "--file=-", t.Name, commit); err != nil {
			return errors.Join(fmt.Errorf("tag %s: %w", t.Name, err), r.DeleteTags(context.WithoutCancel(ctx), tags[:i]))
		}
	}
	return nil
}

// DeleteTags removes tags that CreateTags has made.
func (r Repo) DeleteTags(ctx context.Context, tags []Tag) error {
	if len(tags) == 0 {
		return nil
	}
	args := []string{"tag", "--delete"}
	for _, t := range tags {
		args = append(args, t.Name)
	}
	_, err := r.Run(ctx, args...)
	return err
}

// PushTags publishes tags, all or none. One that the remote has elsewhere makes it refuse them all.
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
