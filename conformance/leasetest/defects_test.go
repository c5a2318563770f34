package leasetest_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// broken is a right backend in which some operations are replaced by wrong ones.
type broken struct {
	*forgetful

	acquire      func(ctx context.Context, r driver.Request) (driver.Grant, error)
	renew        func(ctx context.Context, h driver.Holding) (bool, error)
	release      func(ctx context.Context, h driver.Holding) (bool, error)
	capabilities func() driver.Capabilities
}

func (b *broken) Acquire(ctx context.Context, r driver.Request) (driver.Grant, error) {
	if b.acquire != nil {
		return b.acquire(ctx, r)
	}
	return b.forgetful.Acquire(ctx, r)
}

func (b *broken) Renew(ctx context.Context, h driver.Holding) (bool, error) {
	if b.renew != nil {
		return b.renew(ctx, h)
	}
	return b.forgetful.Renew(ctx, h)
}

func (b *broken) Release(ctx context.Context, h driver.Holding) (bool, error) {
	if b.release != nil {
		return b.release(ctx, h)
	}
	return b.forgetful.Release(ctx, h)
}

func (b *broken) Capabilities() driver.Capabilities {
	if b.capabilities != nil {
		return b.capabilities()
	}
	return b.forgetful.Capabilities()
}

// asked changes what is asked for.
func asked(change func(r *driver.Request)) func(b *broken) {
	return func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			change(&r)
			return b.forgetful.Acquire(ctx, r)
		}
	}
}

// granted changes what is answered.
func granted(change func(g *driver.Grant)) func(b *broken) {
	return func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			g, err := b.forgetful.Acquire(ctx, r)
			change(&g)
			return g, err
		}
	}
}

// renamed makes names another backend's.
func renamed(change func(name string) string) func(b *broken) {
	return func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			r.Name = change(r.Name)
			return b.forgetful.Acquire(ctx, r)
		}
		b.renew = func(ctx context.Context, h driver.Holding) (bool, error) {
			h.Name = change(h.Name)
			return b.forgetful.Renew(ctx, h)
		}
		b.release = func(ctx context.Context, h driver.Holding) (bool, error) {
			h.Name = change(h.Name)
			return b.forgetful.Release(ctx, h)
		}
	}
}

// lax gives out what is held, once it has looked.
func lax(b *broken) {
	var holder atomic.Pointer[driver.Request]
	var token atomic.Int64
	b.acquire = func(_ context.Context, r driver.Request) (driver.Grant, error) {
		if holder.Load() != nil {
			return driver.Grant{Wait: time.Second}, nil
		}
		<-time.After(time.Millisecond)
		holder.Store(&r)
		return driver.Grant{OK: true, Token: token.Add(1)}, nil
	}
	b.release = func(_ context.Context, h driver.Holding) (bool, error) {
		if r := holder.Load(); r == nil || r.Holder != h.Holder {
			return false, nil
		}
		holder.Store(nil)
		return true, nil
	}
}

// defect breaks a backend, and names the check that must find out.
type defect struct {
	breaks func(b *broken)
	found  string
}

// reborn renews what anybody has by letting go of it and taking it again.
func reborn(b *broken, h driver.Holding) (bool, error) {
	ctx := context.Background()
	g, err := b.forgetful.Acquire(ctx, driver.Request{
		Name: h.Name, First: h.Slot, Count: 1,
		Begin: h.Slot, Holder: h.Holder, TTL: h.TTL,
	})
	return g.OK, err
}

var errLimit = errors.New("too long")

// defects are faults that a backend may have, one each.
var defects = map[string]defect{
	"everybody is the holder": {func(b *broken) {
		b.acquire = func(context.Context, driver.Request) (driver.Grant, error) {
			return driver.Grant{OK: true, Token: time.Now().UnixMicro()}, nil
		}
	}, "Lock/OneHolderAtATime"},
	"a wait longer than the TTL": {
		granted(func(g *driver.Grant) { g.Wait *= 2 }),
		"Slots/WaitIsForTheFirst",
	},
	"release waits for the TTL": {func(b *broken) {
		b.release = func(context.Context, driver.Holding) (bool, error) { return true, nil }
	}, "Lock/FreeAfterRelease"},
	"a TTL is cut short": {
		asked(func(r *driver.Request) { r.TTL = r.TTL * 9 / 10 }),
		"Lock/FreeAfterItsTTL",
	},
	"a TTL has whole seconds": {asked(func(r *driver.Request) {
		r.TTL = r.TTL.Truncate(time.Second)
	}), "Lock/ShortestTTL"},
	"a TTL has a limit": {
		asked(func(r *driver.Request) { r.TTL = min(r.TTL, time.Hour) }),
		"Lock/LongestTTL",
	},
	"the wait is the TTL": {granted(func(g *driver.Grant) {
		g.Wait = g.Wait.Round(time.Hour) + time.Minute
	}), "Lock/WaitCountsDown"},
	"holders have no case": {func(b *broken) { noCase(b) }, "Lock/SmallestHolderNames"},
	"tokens are always the same": {granted(func(g *driver.Grant) {
		g.Token = time.Now().Truncate(time.Hour).UnixMicro()
	}), "Token/GrowsFromHolderToHolder"},
	"tokens fall": {granted(func(g *driver.Grant) {
		g.Token = -time.Now().UnixMicro()
	}), "Token/GrowsAfterTheTTL"},
	"tokens are a count": {
		granted(func(g *driver.Grant) { g.Token = 1 }),
		"Token/IsATimeInMicroseconds",
	},
	"anybody may release": {
		func(b *broken) { anybody(b) },
		"Release/ByAFormerHolderChangesNothing",
	},
	"a release that changed nothing": {func(b *broken) {
		b.release = func(ctx context.Context, h driver.Holding) (bool, error) {
			_, err := b.forgetful.Release(ctx, h)
			return true, err
		}
	}, "Release/Once"},
	"a release of nothing is an error": {func(b *broken) {
		b.release = func(ctx context.Context, h driver.Holding) (bool, error) {
			held, err := b.forgetful.Release(ctx, h)
			if !held && err == nil {
				err = errors.New("no such record")
			}
			return held, err
		}
	}, "Release/OfAnUnknownName"},
	"a release needs the token": {func(b *broken) {
		b.release = func(ctx context.Context, h driver.Holding) (bool, error) {
			if h.Token == 0 {
				return false, nil
			}
			return b.forgetful.Release(ctx, h)
		}
	}, "Release/NeedsTheHolderAlone"},
	"no name": {func(b *broken) {
		b.capabilities = func() driver.Capabilities {
			return driver.Capabilities{}
		}
	}, "Capabilities/NameAndScope"},
	"a renewal changes nothing": {func(b *broken) {
		b.renew = func(context.Context, driver.Holding) (bool, error) { return true, nil }
	}, "Renew/Extends"},
	"a renewal is for ever": {func(b *broken) {
		b.renew = func(ctx context.Context, h driver.Holding) (bool, error) {
			h.TTL = time.Hour
			return b.forgetful.Renew(ctx, h)
		}
	}, "Renew/EndsAfterItsTTL"},
	"an ended record cannot be renewed": {func(b *broken) {
		b.renew = func(ctx context.Context, h driver.Holding) (bool, error) {
			if g, err := b.forgetful.Acquire(ctx, driver.Request{
				Name: h.Name, Count: 1,
				Holder: "x", TTL: time.Hour,
			}); g.OK || err != nil {
				return false, err
			}
			return b.forgetful.Renew(ctx, h)
		}
	}, "Renew/OfAnEndedRecord"},
	"anybody may renew": {func(b *broken) {
		b.renew = func(ctx context.Context, h driver.Holding) (bool, error) {
			_, err := b.forgetful.Renew(ctx, h)
			return true, err
		}
	}, "Renew/OfATakenOne"},
	"a late renewal revives": {func(b *broken) {
		b.renew = func(ctx context.Context, h driver.Holding) (bool, error) {
			held, err := b.forgetful.Renew(ctx, h)
			if held || err != nil {
				return held, err
			}
			return reborn(b, h)
		}
	}, "Renew/OfAReleasedOne"},
	"every name is old": {
		granted(func(g *driver.Grant) { g.Age += time.Hour }),
		"Age/GrowsFromTheFirstHolderOn",
	},
	"tokens begin anew": {func(b *broken) { smallTokens(b) }, "Forget/TokensStillGrow"},
	"what is forgotten is taken": {
		func(b *broken) { strictRenewals(b) },
		"Forget/ARenewalBringsTheRecordBack",
	},
	"the age is the server's": {func(b *broken) { serverAge(b) }, "Forget/TheAgeBeginsAnew"},
	"a mark is for ever": {
		granted(func(g *driver.Grant) { g.Mark = max(g.Mark, 7) }),
		"Forget/AlsoTheMark",
	},
	"the last mark at acquire": {func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			g, err := b.forgetful.Acquire(ctx, r)
			if g.OK && r.Count == 1 { // overwrite what is there
				h := driver.Holding{
					Name: r.Name, Slot: g.Slot, Holder: r.Holder, Token: g.Token,
					TTL: r.TTL, Mark: r.Mark,
				}
				_, _ = b.forgetful.Release(ctx, h)
				again, err := b.forgetful.Acquire(ctx, r)
				again.Mark = g.Mark
				return again, err
			}
			return g, err
		}
	}, "Mark/TheLargerAtAcquire"},
	"marks are floating-point numbers": {granted(func(g *driver.Grant) {
		g.Mark = int64(float64(g.Mark))
	}), "Mark/TheLargerAtAcquire"},
	"the last mark at renewal": {func(b *broken) {
		b.renew = func(ctx context.Context, h driver.Holding) (bool, error) {
			if held, err := b.forgetful.Release(ctx, h); !held || err != nil {
				return held, err
			}
			return reborn(b, h)
		}
	}, "Mark/TheLargerAtRenew"},
	"the larger mark at release": {func(b *broken) {
		b.release = func(ctx context.Context, h driver.Holding) (bool, error) {
			h.Mark = max(h.Mark, 1<<62+1)
			return b.forgetful.Release(ctx, h)
		}
	}, "Mark/AnyAtRelease"},
	"slots begin with 0": {func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			r.First, r.Begin = 0, 0
			return b.forgetful.Acquire(ctx, r)
		}
	}, "Slots/EachHolderItsOwn"},
	"an ended slot is not free": {func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			if r.Count > 1 {
				r.TTL = time.Hour
			}
			return b.forgetful.Acquire(ctx, r)
		}
	}, "Slots/FreeAfterTheTTL"},
	"the search begins at the first": {
		asked(func(r *driver.Request) { r.Begin = r.First }),
		"Slots/SearchBeginsAtBegin",
	},
	"past is ignored": {
		asked(func(r *driver.Request) { r.Past = 1 << 40 }),
		"Slots/APastMarkIsPreferred",
	},
	"all slots have one mark": {
		granted(func(g *driver.Grant) { g.Mark = 11 }),
		"Slots/TokensAndMarksAreASlotsOwn",
	},
	"ranges are apart": {func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			r.Name += string(rune('0' + r.First))
			return b.forgetful.Acquire(ctx, r)
		}
	}, "Slots/RangesOfOneNameOverlap"},
	"two get one slot": {func(b *broken) {
		var n atomic.Int64
		b.acquire = func(_ context.Context, r driver.Request) (driver.Grant, error) {
			slot := r.First + int(n.Add(1)/2)
			return driver.Grant{OK: slot < r.First+r.Count, Slot: slot}, nil
		}
	}, "Slots/Many"},
	"each slot has an age": {granted(func(g *driver.Grant) { g.Age = 0 }), "Slots/OneAgeForAll"},
	"names have no case":   {renamed(strings.ToLower), "Names/EveryCharacterCounts"},
	"a pattern is a name": {renamed(func(name string) string {
		return strings.ReplaceAll(name, "*", "b")
	}), "Names/QuotesPatternsAndCase"},
	"names end after 191": {renamed(func(name string) string {
		return name[:min(len(name), 191)]
	}), "Names/TheLongest"},
	"names have two characters": {func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			if len(r.Name) < 2 {
				return driver.Grant{}, errLimit
			}
			return b.forgetful.Acquire(ctx, r)
		}
	}, "Names/TheShortest"},
	"a context is ignored": {func(b *broken) {
		b.renew = func(_ context.Context, h driver.Holding) (bool, error) {
			return b.forgetful.Renew(context.Background(), h)
		}
	}, "Context/ThatHasEnded"},
	"a deadline is another error": {func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			if ctx.Err() != nil {
				return driver.Grant{}, errLimit
			}
			return b.forgetful.Acquire(ctx, r)
		}
	}, "Context/ThatEndsMeanwhile"},
	"looks first and takes then":      {lax, "Race/NeverTwoAtOnce"},
	"looks first and takes what ends": {lax, "Race/OneTakesWhatEnds"},
}

// noCase compares holders without their case.
func noCase(b *broken) {
	lower := func(h driver.Holding) driver.Holding {
		h.Holder = strings.ToLower(h.Holder)
		return h
	}
	b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		r.Holder = strings.ToLower(r.Holder)
		return b.forgetful.Acquire(ctx, r)
	}
	b.renew = func(ctx context.Context, h driver.Holding) (bool, error) {
		return b.forgetful.Renew(ctx, lower(h))
	}
	b.release = func(ctx context.Context, h driver.Holding) (bool, error) {
		return b.forgetful.Release(ctx, lower(h))
	}
}

// anybody may release what is held: there is one holder.
func anybody(b *broken) {
	b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		r.Holder = "one"
		return b.forgetful.Acquire(ctx, r)
	}
	b.release = func(ctx context.Context, h driver.Holding) (bool, error) {
		h.Holder = "one"
		return b.forgetful.Release(ctx, h)
	}
}

// smallTokens counts the holders of each name, until it is forgotten.
func smallTokens(b *broken) {
	b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		g, err := b.forgetful.Acquire(ctx, r)
		g.Token = 1
		return g, err
	}
}

// strictRenewals renews what is known only.
func strictRenewals(b *broken) {
	era := map[string]string{}
	b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		era[r.Holder] = b.now(r.Name)
		return b.forgetful.Acquire(ctx, r)
	}
	b.renew = func(ctx context.Context, h driver.Holding) (bool, error) {
		if era[h.Holder] != b.now(h.Name) {
			return false, nil
		}
		return b.forgetful.Renew(ctx, h)
	}
}

// serverAge answers with the age of the server.
func serverAge(b *broken) {
	start := time.Now()
	b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		g, err := b.forgetful.Acquire(ctx, r)
		g.Age = time.Since(start)
		return g, err
	}
}
