package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/internal/memory"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
)

var plain = job.NewKind[note]("plain")

func TestKind_Enqueue(t *testing.T) {
	t.Run("uses the options of the kind and of the call", func(t *testing.T) {
		withFakeClock(t, func(t *testing.T, b *fixture) {
			k := job.NewKind[note]("note",
				job.WithPriority(job.PriorityHigh), job.WithMaxAttempts(3), nil)
			ids, err := k.EnqueueMany(b.ctx, []note{{N: 1}, {N: 2}})
			if err != nil || len(ids) != 2 || ids[0] >= ids[1] {
				t.Fatalf("EnqueueMany = %v, %v; want two ids in their order", ids, err)
			}
			r := b.get(t, ids[1])
			if r.Kind != "note" || k.Name() != "note" || string(r.Args) != `{"text":"","n":2}` ||
				r.Priority != 1 || r.MaxAttempts != 3 || r.Delay != 0 {
				t.Errorf("record = %+v", r)
			}
			id := enqueue(t, b, k, note{}, job.WithJobPriority(job.PriorityLow),
				job.WithJobMaxAttempts(9), job.WithDelay(time.Hour), nil)
			if r := b.get(t, id); r.Priority != 4 || r.MaxAttempts != 9 || r.Delay != time.Hour {
				t.Errorf("priority, attempts, delay = %d, %d, %s; want 4, 9, 1h",
					r.Priority, r.MaxAttempts, r.Delay)
			}
			for _, tc := range []struct {
				name    string
				options []job.EnqueueOption
				want    time.Duration
			}{
				{
					name:    "future time",
					options: []job.EnqueueOption{job.WithRunAt(time.Now().Add(time.Minute))},
					want:    time.Minute,
				},
				{
					name:    "past time",
					options: []job.EnqueueOption{job.WithRunAt(time.Now().Add(-time.Minute))},
				},
				{
					name: "zero time last",
					options: []job.EnqueueOption{
						job.WithDelay(time.Hour),
						job.WithRunAt(time.Time{}),
					},
				},
				{
					name: "delay last",
					options: []job.EnqueueOption{
						job.WithRunAt(time.Now().Add(time.Hour)),
						job.WithDelay(time.Second),
					},
					want: time.Second,
				},
				{
					name: "time last",
					options: []job.EnqueueOption{
						job.WithDelay(time.Hour),
						job.WithRunAt(time.Now().Add(time.Second)),
					},
					want: time.Second,
				},
			} {
				if r := b.get(t, enqueue(t, b, k, note{}, tc.options...)); r.Delay != tc.want {
					t.Errorf("%s: the delay is %s, want %s", tc.name, r.Delay, tc.want)
				}
			}
		})
	})

	t.Run("stores nothing with an invalid option", func(t *testing.T) {
		b := newFixture(t)
		for _, option := range []job.EnqueueOption{
			job.WithJobPriority(0), job.WithJobPriority(5), job.WithJobMaxAttempts(0),
			job.WithDelay(-1),
		} {
			if _, err := plain.Enqueue(b.ctx, note{}, option); !errors.Is(err, job.ErrOption) {
				t.Errorf("Enqueue = %v, want %v", err, job.ErrOption)
			}
		}
		b.wantNoJobs(t)
	})

	t.Run("rejects invalid arguments without printing them", func(t *testing.T) {
		b := newFixture(t)
		number, channel := job.NewKind[float64]("number"), job.NewKind[chan int]("channel")
		own, big := job.NewKind[badEncoder]("own"), job.NewKind[string]("big")
		for _, tc := range []struct {
			name    string
			enqueue func() (string, error)
			want    string
		}{
			{
				name:    "unsupported value",
				enqueue: func() (string, error) { return number.Enqueue(b.ctx, math.Inf(1)) },
				want: "job: kind number: invalid arguments: " +
					"a value of type float64 cannot be encoded as JSON",
			},
			{
				name:    "unsupported type",
				enqueue: func() (string, error) { return channel.Enqueue(b.ctx, nil) },
				want: "job: kind channel: invalid arguments: " +
					"type chan int cannot be encoded as JSON",
			},
			{
				name:    "failing marshaler",
				enqueue: func() (string, error) { return own.Enqueue(b.ctx, badEncoder{}) },
				want: "job: kind own: invalid arguments: " +
					"the marshaler of job_test.badEncoder failed",
			},
			{
				name: "too large",
				enqueue: func() (string, error) {
					return big.Enqueue(b.ctx, strings.Repeat("x", job.MaxArgs-1))
				},
				want: "job: kind big: invalid arguments: 1048577 bytes exceed the limit of 1048576",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if _, err := tc.enqueue(); !errors.Is(err, job.ErrArgs) || err.Error() != tc.want {
					t.Errorf("Enqueue = %v, want %s", err, tc.want)
				}
			})
		}
		if _, err := big.Enqueue(b.ctx, strings.Repeat("x", job.MaxArgs-2)); err != nil {
			t.Errorf("Enqueue of the maximum size = %v", err)
		}
		if _, err := number.EnqueueMany(b.ctx, []float64{1, math.NaN()}); err == nil {
			t.Error("EnqueueMany with an invalid argument = nil, want an error")
		}
	})

	t.Run("wraps engine errors", func(t *testing.T) {
		b := newFixture(t)
		b.store.SetDown(true)
		if _, err := plain.Enqueue(b.ctx, note{}); !errors.Is(err, memory.ErrAway) ||
			!strings.HasPrefix(err.Error(), "job: enqueue plain: ") {
			t.Errorf("Enqueue = %v", err)
		}
		if err := b.queue.CheckHealth(b.ctx); !errors.Is(err, memory.ErrAway) {
			t.Errorf("CheckHealth = %v, want %v", err, memory.ErrAway)
		}
		b.store.SetDown(false)
		if err := b.queue.CheckHealth(b.ctx); err != nil {
			t.Errorf("CheckHealth = %v, want nil", err)
		}
	})
}

func TestKind_EnqueueMany(t *testing.T) {
	b := newFixture(t)
	if ids, err := plain.EnqueueMany(b.ctx, nil); len(ids) != 0 || err != nil {
		t.Errorf("EnqueueMany without arguments = %v, %v", ids, err)
	}
}

// wantNoJobs fails the test if jobs are waiting.
func (b *fixture) wantNoJobs(t *testing.T) {
	t.Helper()
	if list, err := b.queue.List(b.ctx, job.Query{State: job.StateWaiting}); len(list) != 0 ||
		err != nil {
		t.Errorf("%d waiting jobs, %v; want 0", len(list), err)
	}
}

// badEncoder fails to encode, and its error contains the secret.
type badEncoder struct{}

// MarshalJSON implements json.Marshaler.
func (badEncoder) MarshalJSON() ([]byte, error) { return nil, errors.New("not " + secret) }

// badDecoder fails to decode, and its error contains the secret.
type badDecoder struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (*badDecoder) UnmarshalJSON([]byte) error { return errors.New("not " + secret) }

func TestKind_Handle(t *testing.T) {
	for _, tc := range []struct {
		name string
		args any
		do   job.Handler
		want string
	}{
		{
			name: "another type", args: map[string]any{"n": secret}, do: handle[note]("args"),
			want: `job: kind args: invalid arguments: JSON string at "n" does not match type int`,
		},
		{
			name: "a number that is too large",
			args: map[string]any{"n": json.Number("123456789012345678901234567890")},
			do:   handle[note]("args"),
			want: `job: kind args: invalid arguments: JSON number at "n" does not match type int`,
		},
		{
			name: "failing unmarshaler", args: secret, do: handle[badDecoder]("args"),
			want: "job: kind args: invalid arguments: cannot decode",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			withFakeClock(t, func(t *testing.T, b *fixture) {
				id := enqueue(t, b, job.NewKind[any]("args"), tc.args)
				l := b.work(t, job.WithHandlers(tc.do))
				sleep(time.Minute)
				if r := b.get(t, id); r.State != job.StateDead || r.Error != tc.want ||
					r.Attempt != 1 {
					t.Errorf("state, attempt, error = %s, %d, %q; want dead, 1, %q",
						r.State, r.Attempt, r.Error, tc.want)
				}
				l.stopAndWait(t)
				if s := b.log.String(); strings.Contains(s, secret) ||
					strings.Contains(s, "12345678901") {
					t.Errorf("the log shows the arguments:\n%s", s)
				}
			})
		})
	}
}

// handle returns a handler that does nothing.
func handle[T any](name string) job.Handler {
	return job.NewKind[T](name).Handle(func(context.Context, T) error { return nil })
}

func TestGetQueue(t *testing.T) {
	_, err := plain.Enqueue(t.Context(), note{})
	if code := xerror.From(err).GetErrorCode(); code != xerror.ConfigError {
		t.Errorf("code = %v, want %v", code, xerror.ConfigError)
	}
	if !strings.Contains(err.Error(), "job.Init(outbox.Open())") ||
		!strings.Contains(err.Error(), "xctx.JobQueueKey") {
		t.Errorf("Enqueue = %v, want an error that names the node", err)
	}
	defer func() {
		if err, _ := recover().(error); err == nil || !strings.Contains(err.Error(), "job.Init") {
			t.Errorf("MustGetQueue panics with %v, want an error that names the node", err)
		}
	}()
	job.MustGetQueue(t.Context())
}

func TestKind_Enqueue_Transaction(t *testing.T) {
	t.Run("fails if the engine does not support transactions", func(t *testing.T) {
		b := newFixtureOn(t, memory.NewWithoutTransactions())
		err := memory.Transaction(b.ctx, func(ctx context.Context) error {
			_, err := plain.Enqueue(ctx, note{})
			return err
		})
		if !errors.Is(err, job.ErrTransaction) || !strings.Contains(err.Error(), "enqueue plain") {
			t.Errorf("Enqueue in a transaction = %v, want %v", err, job.ErrTransaction)
		}
		b.wantNoJobs(t)
		err = memory.Transaction(b.ctx, func(ctx context.Context) error {
			_, err := plain.Enqueue(ctx, note{}, job.OutsideTransaction())
			return errors.Join(err, errBoom)
		})
		if !errors.Is(err, errBoom) || errors.Is(err, job.ErrTransaction) {
			t.Errorf("the transaction = %v, want %v only", err, errBoom)
		}
		if list, err := b.queue.List(b.ctx, job.Query{State: job.StateWaiting}); len(list) != 1 ||
			err != nil {
			t.Errorf("%d waiting jobs, %v; want only the job outside the transaction",
				len(list), err)
		}
		committed := false
		err = memory.Transaction(b.ctx, func(ctx context.Context) error {
			xdb.OnCommit(ctx, func(ctx context.Context) {
				_, err := plain.Enqueue(ctx, note{})
				committed = err == nil
			})
			return nil
		})
		if err != nil || !committed {
			t.Errorf("the transaction = %v, stored after the commit: %t", err, committed)
		}
	})

	t.Run("joins the transaction", func(t *testing.T) {
		b := newFixture(t)
		err := memory.Transaction(b.ctx, func(ctx context.Context) error {
			_, err := plain.Enqueue(ctx, note{})
			return errors.Join(err, errBoom)
		})
		if !errors.Is(err, errBoom) {
			t.Errorf("the transaction = %v, want %v", err, errBoom)
		}
		b.wantNoJobs(t)
	})
}

func TestKind_Enqueue_Request(t *testing.T) {
	t.Run("stores the request ID and the language", func(t *testing.T) {
		const id = "req-0123456789"
		for _, tc := range []struct {
			name, language, want string
		}{
			{name: "language", language: "de-CH, de;q=0.9", want: "de-CH, de;q=0.9"},
			{name: "no language", language: "", want: ""},
			{name: "too long", language: strings.Repeat("d", 201), want: ""},
			{name: "invalid bytes", language: "de\xff", want: ""},
		} {
			t.Run(tc.name, func(t *testing.T) {
				withFakeClock(t, func(t *testing.T, b *fixture) {
					request := xctx.NewRequest(b.ctx, nil)
					request.SetID(id)
					request.SetAcceptLanguage(tc.language)
					c, _ := gin.CreateTestContext(httptest.NewRecorder())
					c.Request = httptest.NewRequestWithContext(request, http.MethodPost, "/",
						http.NoBody)
					k, next := job.NewKind[note]("first"), job.NewKind[note]("next")
					if _, err := k.Enqueue(c, note{}); err != nil {
						t.Fatalf("Enqueue with a *gin.Context: %v", err)
					}
					var ids, languages []string
					record := func(ctx context.Context) {
						r := xctx.RequestFrom(ctx)
						ids, languages = append(ids, r.ID()), append(languages, r.AcceptLanguage())
					}
					l := b.work(t, job.WithHandlers(
						k.Handle(func(ctx context.Context, _ note) error {
							record(ctx)
							_, err := next.Enqueue(ctx, note{})
							return err
						}),
						next.Handle(func(ctx context.Context, _ note) error {
							record(ctx)
							return nil
						})))
					sleep(time.Minute)
					l.stopAndWait(t)
					if len(ids) != 2 || ids[0] != id || ids[1] != id || languages[0] != tc.want ||
						languages[1] != tc.want {
						t.Errorf("ids, languages = %q, %q; want %q and %q, also in the nested job",
							ids, languages, id, tc.want)
					}
					done := b.log.withMessage(t, "job done")
					if len(done) != 2 || done[0]["request_id"] != id ||
						done[1]["request_id"] != id {
						t.Errorf("lines = %v, want 2 with the request ID", done)
					}
				})
			})
		}
	})

	t.Run("generates a request ID without a request", func(t *testing.T) {
		withFakeClock(t, func(t *testing.T, b *fixture) {
			k := job.NewKind[note]("note")
			enqueue(t, b, k, note{})
			var id string
			l := b.work(t, job.WithHandlers(k.Handle(func(ctx context.Context, _ note) error {
				id = xctx.RequestFrom(ctx).ID()
				return nil
			})))
			sleep(time.Minute)
			l.stopAndWait(t)
			if lines := b.log.withMessage(t, "job done"); !xctx.ValidID(id) || len(lines) != 1 ||
				lines[0]["request_id"] != id {
				t.Errorf("id = %q, lines = %v; want a valid ID and 1 line with it", id, lines)
			}
		})
	})
}
