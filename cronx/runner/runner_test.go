package runner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/cronx"
	"github.com/plinthgo/plinth/cronx/runner"
)

// key is a context key of the application.
type key struct{}

// epoch is the start time of a synctest bubble.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func TestServe(t *testing.T) {
	t.Run("runs every tick at its time with its own context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			out := capture(t)
			var mu sync.Mutex
			ids := map[string]bool{}
			var ticks []cronx.Tick
			job := cronx.NewJob("*/20 * * * * *", func(ctx context.Context) {
				tick, ok := cronx.TickFrom(ctx)
				if !ok || !tick.Time.Equal(time.Now()) || tick.Name != "poll" {
					t.Errorf("tick = %v, %v at %s", tick, ok, time.Now())
				}
				if ctx.Value(key{}) != "database" {
					t.Error("the context has no values of the application")
				}
				mu.Lock()
				defer mu.Unlock()
				ids[xctxutil.GetRequestKey(ctx)] = true
				ticks = append(ticks, tick)
			}, cronx.WithName("poll"))
			s := serve(t, context.WithValue(t.Context(), key{}, "database"),
				runner.WithRegister(job))
			sleep(61 * time.Second)
			if err := s.stop(); err != nil {
				t.Error(err)
			}
			if len(ticks) != 3 || len(ids) != 3 || ids[""] {
				t.Errorf("%d ticks with the ids %v, want 3 of each", len(ticks), ids)
			}
			for i, tick := range ticks {
				want := epoch.Add(time.Duration(i+1) * 20 * time.Second)
				if !tick.Time.Equal(want) {
					t.Errorf("tick %d at %s, want %s", i, tick.Time, want)
				}
			}
			ended := out.with("run finished")
			if len(ended) != 3 || len(out.with("run started")) != 3 ||
				!ids[fmt.Sprint(ended[0]["request_id"])] {
				t.Errorf("log = %s, want a start and finish record of each run, with its ID", out)
			}
		})
	})

	t.Run("overlaps runs only with WithOverlap", func(t *testing.T) {
		for _, tc := range []struct {
			name    string
			options []cronx.JobOption
			maximum int64 // of concurrent runs
			runs    int64
			skipped int
		}{
			{name: "no overlap by default", maximum: 1, runs: 2, skipped: 4},
			{
				name:    "WithOverlap",
				options: []cronx.JobOption{cronx.WithOverlap()}, maximum: 3, runs: 6,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					out := capture(t)
					var running, maxRunning, runs atomic.Int64
					job := cronx.NewJob("*/10 * * * * *", func(context.Context) {
						runs.Add(1)
						maxRunning.Store(max(maxRunning.Load(), running.Add(1)))
						sleep(25 * time.Second)
						running.Add(-1)
					}, tc.options...)
					s := serve(t, t.Context(), runner.WithRegister(job))
					sleep(65 * time.Second)
					if err := s.stop(); err != nil {
						t.Error(err)
					}
					skipped := len(out.with("tick skipped"))
					if maxRunning.Load() != tc.maximum || runs.Load() != tc.runs ||
						skipped != tc.skipped {
						t.Errorf("concurrency %d, %d runs, %d skipped, want %d, %d, %d",
							maxRunning.Load(), runs.Load(), skipped,
							tc.maximum, tc.runs, tc.skipped)
					}
				})
			})
		}
	})

	t.Run("logs a failed run and continues", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			job  func(n int64) error
			log  string
			with string
		}{
			{
				name: "error", job: func(int64) error { return errors.New("disk full") },
				log: "run failed", with: "disk full",
			},
			{
				name: "panic", job: func(int64) error { panic("out of range") },
				log: "run panicked", with: "runner_test.go",
			},
			{
				name: "panic with an error",
				job:  func(int64) error { panic(errors.New("jam")) },
				log:  "run panicked", with: "jam",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					out := capture(t)
					var n atomic.Int64
					serve(t, t.Context(),
						runner.WithRegister(cronx.NewJob("@every 10s", func(context.Context) error {
							return tc.job(n.Add(1))
						}, cronx.WithName("print"))))
					sleep(21 * time.Second)
					found := out.with(tc.log)
					if n.Load() != 2 || len(found) != 2 || found[0]["level"] != "error" ||
						!strings.Contains(out.String(), tc.with) {
						t.Errorf("%d runs, log = %s, want two lines %q with %q",
							n.Load(), out, tc.log, tc.with)
					}
				})
			})
		}
	})

	t.Run("cancels a run after its timeout", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			out := capture(t)
			causes := make(chan error, 1)
			serve(t, t.Context(), runner.WithRegister(cronx.NewJob("@every 1m",
				func(ctx context.Context) {
					<-ctx.Done()
					causes <- context.Cause(ctx)
				}, cronx.WithTimeout(5*time.Second))))
			sleep(66 * time.Second)
			if cause := <-causes; !errors.Is(cause, runner.ErrTimeout) ||
				len(out.with("run finished after its context was canceled")) != 1 {
				t.Errorf("cause = %v, log = %s, want ErrTimeout and a warning", cause, out)
			}
		})
	})
}

// stopped is the prefix of the error of a shutdown that canceled a run.
const stopped = "cronx/runner: graceful stop timeout exceeded: "

func TestServe_Shutdown(t *testing.T) {
	t.Run("waits for runs and cancels them after the timeout", func(t *testing.T) {
		for _, tc := range []struct {
			name    string
			job     func(ctx context.Context) // starts 10 s before the shutdown
			elapsed time.Duration
			err     string
			log     string
		}{
			{name: "no run", job: func(context.Context) {}},
			{
				name: "finishes in time", job: func(ctx context.Context) {
					sleep(30 * time.Second)
					if ctx.Err() != nil {
						panic("the context is canceled")
					}
				}, elapsed: 20 * time.Second, log: "run finished",
			},
			{
				name: "returns when canceled", job: func(ctx context.Context) {
					<-ctx.Done()
					if !errors.Is(context.Cause(ctx), runner.ErrStopped) {
						panic(context.Cause(ctx))
					}
				}, elapsed: 40 * time.Second, err: stopped + "canceled: deaf",
				log: "canceling runs",
			},
			{
				name: "ignores its context", job: func(context.Context) { sleep(time.Hour) },
				elapsed: 41 * time.Second, err: stopped + "canceled: deaf; abandoned: deaf",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					out := capture(t)
					var runs atomic.Int64
					s := serve(t, t.Context(), runner.WithGracefulStopTimeout(40*time.Second),
						runner.WithRegister(
							cronx.NewJob("@every 10s", func(ctx context.Context) {
								runs.Add(1)
								tc.job(ctx)
							}, cronx.WithName("deaf")),
						))
					sleep(20*time.Second - time.Millisecond)
					started := time.Now()
					err := s.stop()
					elapsed := time.Since(started).Truncate(time.Second)
					if elapsed != tc.elapsed || (err == nil) != (tc.err == "") ||
						err != nil && err.Error() != tc.err {
						t.Errorf("shutdown took %s and returned %v, want %s and %q",
							elapsed, err, tc.elapsed, tc.err)
					}
					if err != nil && !errors.Is(err, runner.ErrStopped) {
						t.Errorf("error = %v, want ErrStopped", err)
					}
					if runs.Load() != 1 || !strings.Contains(out.String(), tc.log) ||
						strings.Contains(out.String(), "panicked") {
						t.Errorf("%d runs, log = %s, want 1 and %q", runs.Load(), out, tc.log)
					}
					sleep(2 * time.Hour)
				})
			})
		}
	})

	t.Run("names canceled and abandoned runs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			capture(t)
			end := make(chan struct{})
			s := serve(t, t.Context(), runner.WithGracefulStopTimeout(15*time.Second),
				runner.WithRegister(
					cronx.NewJob("@every 10s", func(ctx context.Context) { <-ctx.Done() },
						cronx.WithName("mail"), cronx.WithOverlap()),
					cronx.NewJob("@every 20s", func(context.Context) { <-end },
						cronx.WithName("deaf")),
					cronx.NewJob("@every 20s", func(context.Context) { sleep(10 * time.Second) },
						cronx.WithName("quick")),
				))
			sleep(25 * time.Second)
			const want = stopped + "canceled: deaf, mail (2 runs); abandoned: deaf"
			if err := s.stop(); err == nil || err.Error() != want {
				t.Errorf("shutdown returned %v, want %q", err, want)
			}
			close(end)
		})
	})
}

func TestServe_Clock(t *testing.T) {
	// The wall clock changes while a job is due every minute.
	t.Run("handles clock changes", func(t *testing.T) {
		for _, tc := range []struct {
			name  string
			by    time.Duration // 30 s after a tick
			ticks string        // of the next three minutes
			log   string
			first string // first missed tick
		}{
			{
				name: "forward by three ticks", by: 3*time.Minute + 10*time.Second,
				ticks: "00:14 00:15 00:16", log: "ticks missed", first: "00:11",
			},
			{
				name: "forward, to shortly after a tick",
				by:   45 * time.Second, ticks: "00:11 00:12 00:13 00:14",
			},
			{
				name: "back by less than an hour",
				by:   -2 * time.Minute, ticks: "00:11",
			},
			{
				name: "back by years", by: -2 * 365 * 24 * time.Hour,
				ticks: "00:11 00:12 00:13", log: "clock was set back",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					out := capture(t)
					var jump atomic.Int64
					var mu sync.Mutex
					var ticks []string
					serve(t, t.Context(), runner.WithLocation(time.UTC),
						runner.WithNow(func() time.Time {
							return time.Now().UTC().Add(time.Duration(jump.Load()))
						}),
						runner.WithRegister(cronx.NewJob("* * * * *", func(ctx context.Context) {
							mu.Lock()
							defer mu.Unlock()
							tick, _ := cronx.TickFrom(ctx)
							ticks = append(ticks, tick.Time.Format("15:04"))
						})))
					sleep(10*time.Minute + 30*time.Second)
					mu.Lock()
					ticks = nil
					mu.Unlock()
					jump.Store(int64(tc.by))
					sleep(3*time.Minute + 15*time.Second)
					mu.Lock()
					defer mu.Unlock()
					if got := strings.Join(ticks, " "); got != tc.ticks {
						t.Errorf("ticks = %s, want %s", got, tc.ticks)
					}
					found := out.with("ticks missed")
					if tc.first == "" && len(found) != 0 || tc.first != "" && (len(found) != 1 ||
						!strings.Contains(fmt.Sprint(found[0]["first"]), "T"+tc.first)) {
						t.Errorf("log = %v, want %q as the first missed tick", found, tc.first)
					}
					if !strings.Contains(out.String(), tc.log) {
						t.Errorf("log = %s, want %q", out, tc.log)
					}
				})
			})
		}
	})

	t.Run("logs a long suspend once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			out := capture(t)
			var jump, runs atomic.Int64
			now := func() time.Time { return time.Now().Add(time.Duration(jump.Load())) }
			serve(t, t.Context(), runner.WithNow(now), runner.WithRegister(
				cronx.NewJob("@every 1s", func(context.Context) { runs.Add(1) },
					cronx.WithOverlap())))
			sleep(1500 * time.Millisecond)
			jump.Store(int64(365 * 24 * time.Hour))
			sleep(time.Second)
			found := out.with("ticks missed")
			if len(found) != 1 || runs.Load() != 32 {
				t.Errorf("missed = %v, %d runs, want 1 record and 32 runs: "+
					"one before the suspend, and those of the last 30 s", found, runs.Load())
			}
		})
	})

	t.Run("handles daylight saving", func(t *testing.T) {
		berlin, err := time.LoadLocation("Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			name string
			spec string
			from time.Time
			want string
		}{
			{
				name: "spring", spec: "30 2 * * *",
				from: time.Date(2026, 3, 28, 0, 0, 0, 0, berlin),
				want: "28 02:30 CET, 29 03:00 CEST, 30 02:30 CEST",
			},
			{
				name: "autumn", spec: "30 2 * * *",
				from: time.Date(2026, 10, 24, 0, 0, 0, 0, berlin),
				want: "24 02:30 CEST, 25 02:30 CEST, 26 02:30 CET",
			},
			{
				name: "its own zone", spec: "CRON_TZ=America/New_York 30 2 * * *",
				from: time.Date(2026, 3, 7, 12, 0, 0, 0, berlin),
				want: "08 03:00 EDT, 09 02:30 EDT, 10 02:30 EDT",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					capture(t)
					var mu sync.Mutex
					var ticks []string
					off := time.Until(tc.from)
					serve(t, t.Context(), runner.WithLocation(berlin), runner.WithNow(skewed(off)),
						runner.WithRegister(cronx.NewJob(tc.spec, func(ctx context.Context) {
							mu.Lock()
							defer mu.Unlock()
							tick, _ := cronx.TickFrom(ctx)
							ticks = append(ticks, tick.Time.Format("02 15:04 MST"))
						})))
					sleep(70 * time.Hour)
					mu.Lock()
					defer mu.Unlock()
					if got := strings.Join(ticks, ", "); got != tc.want {
						t.Errorf("ticks = %s, want %s", got, tc.want)
					}
				})
			})
		}
	})
}
