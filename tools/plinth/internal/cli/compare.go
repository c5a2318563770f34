package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"

	"github.com/plinthgo/plinth/tools/plinth/internal/openapi"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// comparison is the result of openapi --check.
type comparison struct {
	File       string `json:"file"`
	Operations int    `json:"operations"`
	// IsMissing reports that the file does not exist.
	IsMissing bool `json:"missing"`
	// IsOutdated reports that the file differs from the service.
	IsOutdated bool `json:"outdated"`
	// Differences are those between the file and the service.
	Differences []openapi.Difference `json:"differences"`
	// Base is the document that is compared to find breaking changes.
	Base string `json:"base"`
	// Breaking are the changes from Base that break clients.
	Breaking []openapi.Difference `json:"breaking"`
}

// compare prints the differences between the document and the service. old is the content
// of the file, or nil if it does not exist.
func (c *openAPICall) compare(
	ctx context.Context, file string, old []byte, d *openapi.Document,
) error {
	r := comparison{
		File: c.output, Operations: d.Operations, IsMissing: old == nil,
		IsOutdated: !bytes.Equal(old, d.Text), Base: cmp.Or(c.base, c.output),
		Differences: []openapi.Difference{}, Breaking: []openapi.Difference{}, // [] instead of null
	}
	if r.IsOutdated && !r.IsMissing {
		found, err := openapi.All(old, d.Text)
		if err != nil {
			return err
		}
		r.Differences = append(r.Differences, found...)
	}
	if c.base == "" {
		r.Breaking = append(r.Breaking, openapi.OnlyBreaking(r.Differences)...)
	} else {
		base, err := openapi.ReadBase(ctx, c.base, file)
		switch {
		case errors.Is(err, openapi.ErrNoBase):
			c.p.Warn("%v; no breaking changes are reported", err)
			base = d.Text
		case err != nil:
			return err
		}
		found, err := openapi.Compare(base, d.Text)
		if err != nil {
			return err
		}
		r.Breaking = append(r.Breaking, openapi.OnlyBreaking(found)...)
	}
	if err := c.showComparison(r); err != nil {
		return err
	}
	if r.IsOutdated || len(r.Breaking) > 0 && !c.allowBreaking {
		return errFound
	}
	return nil
}

func (c *openAPICall) showComparison(r comparison) error {
	if c.p.JSON {
		return c.p.WriteJSON(r)
	}
	c.showDifferences(r.Differences)
	if r.Base != r.File {
		c.showDifferences(r.Breaking)
	}
	switch {
	case r.IsMissing:
		c.p.Note("%s does not exist; run plinth openapi", r.File)
	case r.IsOutdated:
		c.p.Note("%s is out of date: %s; run plinth openapi",
			r.File, plural(len(r.Differences), "difference"))
	default:
		c.p.Done("%s is up to date: %s", r.File, plural(r.Operations, "operation"))
	}
	if len(r.Breaking) > 0 {
		hint := "; --allow-breaking accepts them"
		if c.allowBreaking {
			hint = ", accepted"
		}
		c.p.Note("%s since %s%s", plural(len(r.Breaking), "breaking change"), r.Base, hint)
	}
	return nil
}

func (c *openAPICall) showDifferences(all []openapi.Difference) {
	if len(all) == 0 {
		return
	}
	tones := map[openapi.Kind]term.Tone{
		openapi.Breaking: term.Bad, openapi.Compatible: term.Good, openapi.Other: term.Faint,
	}
	rows := make([][]string, len(all))
	for i, d := range all {
		rows[i] = []string{c.p.Paint(tones[d.Kind], string(d.Kind)), d.At, d.What}
	}
	c.p.Table([]string{"CHANGE", "AT", "WHAT"}, rows)
}
