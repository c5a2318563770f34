package xcache

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ViewOption sets up a typed view.
type ViewOption func(*view)

// WithName names the view in metrics. It is no part of a key.
func WithName(name string) ViewOption { return func(v *view) { v.name = name } }

// WithKeyPrefix puts prefix between the manager's prefix and the view's keys, so that views with equal
// keys do not meet.
func WithKeyPrefix(prefix string) ViewOption { return func(v *view) { v.prefix += prefix } }

// WithViewTTL replaces the manager's default TTL for the view; 0 is for ever.
func WithViewTTL(ttl time.Duration) ViewOption { return func(v *view) { v.ttl = ttl } }

// WithNegativeTTL lets GetOrLoad remember for ttl that the loader found nothing. Delete forgets it.
func WithNegativeTTL(ttl time.Duration) ViewOption { return func(v *view) { v.negative = ttl } }

// WithImmutable promises that nobody changes a value that was set or got. A store in the process, also a
// near cache, then shares values instead of copying them: a Get of any type costs no decoding and no
// allocation. Other stores do as ever.
func WithImmutable() ViewOption { return func(v *view) { v.immutable = true } }

// WithoutNear lets a view of keys always ask the server, for what may not be stale at all.
func WithoutNear() ViewOption { return func(v *view) { v.noNear = true } }

// view is what all typed views share. It does not change once made.
type view struct {
	m         *Manager
	name      string
	prefix    string
	ttl       time.Duration
	negative  time.Duration
	immutable bool
	noNear    bool
}

// newView panics on what only a programmer can mend.
func newView(m *Manager, opts []ViewOption) view {
	if m == nil {
		panic("xcache: a view on a nil manager")
	}
	v := view{m: m, prefix: m.prefix, ttl: m.ttl}
	for _, o := range opts {
		o(&v)
	}
	if v.ttl < 0 || v.negative < 0 {
		panic(fmt.Sprintf("xcache: view %q has a negative TTL", v.name))
	}
	return v
}

// op is a call in progress.
type op struct {
	view  *view
	kind  string
	start time.Time
	near  bool // the near cache had it
}

// begin starts the clock of a call where somebody watches.
func (v *view) begin(kind string) op {
	o := op{view: v, kind: kind}
	if v.m.metrics != nil {
		o.start = time.Now()
	}
	return o
}

// watched reports whether somebody wants to know of the call.
func (o op) watched() bool { return o.view.m.metrics != nil }

// end reports the call and returns its error, wrapped once.
func (o op) end(ctx context.Context, outcome string, err error) error {
	if err == nil && o.view.m.metrics == nil {
		return nil
	}
	return o.report(ctx, outcome, err)
}

func (o op) report(ctx context.Context, outcome string, err error) error {
	if err != nil {
		outcome = failed
		var inner *Error
		if !errors.As(err, &inner) {
			err = fail(o.kind, err)
		}
	}
	if observe := o.view.m.metrics; observe != nil {
		observe(ctx, Event{View: o.view.name, Op: o.kind, Outcome: outcome, Latency: time.Since(o.start), Near: o.near && err == nil, Err: err})
	}
	return err
}

// deleteKeys removes keys of any kind, and what GetOrLoad remembers of them. Where somebody wants to know
// the count, the latter must not be in it.
func deleteKeys[K comparable](ctx context.Context, v *view, t *text[K], keys []K, counted bool) (removed int, err error) {
	op := v.begin(opDelete)
	names, err := t.all(ctx, v.prefix, keys)
	if err == nil && len(names) > 0 {
		for _, name := range names {
			v.m.loads.invalidate(name)
		}
		var marks []string
		if v.negative > 0 {
			for _, name := range names {
				marks = append(marks, name+absent)
			}
		}
		if counted && len(marks) > 0 {
			_, err = v.m.store.Delete(ctx, marks...)
			marks = nil
		}
		if err == nil {
			removed, err = v.m.store.Delete(ctx, append(names, marks...)...)
			v.m.near.drop(ctx, names...)
		}
	}
	return removed, op.end(ctx, wrote(removed > 0), err)
}

// keyTTL returns the remaining life of a key of any kind.
func keyTTL[K comparable](ctx context.Context, v *view, t *text[K], key K) (ttl time.Duration, ok bool, err error) {
	op := v.begin(opTTL)
	name, err := t.begin(ctx, v.prefix, key)
	if err == nil {
		ttl, ok, err = v.m.store.TTL(ctx, name)
	}
	return ttl, ok, op.end(ctx, found(ok), err)
}
