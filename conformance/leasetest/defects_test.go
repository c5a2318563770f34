package leasetest_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// broken is a correct backend with some operations replaced by faulty ones.
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

// changeRequest changes requests.
func changeRequest(change func(r *driver.Request)) func(b *broken) {
	return func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			change(&r)
			return b.forgetful.Acquire(ctx, r)
		}
	}
}

// changeGrant changes grants.
func changeGrant(change func(g *driver.Grant)) func(b *broken) {
	return func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			g, err := b.forgetful.Acquire(ctx, r)
			change(&g)
			return g, err
		}
	}
}

// changeName changes names.
func changeName(change func(name string) string) func(b *broken) {
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

// notAtomic checks for a holder and stores the new holder without locking.
func notAtomic(b *broken) {
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

// defect is a fault of a backend. detectedBy is the check that must fail.
type defect struct {
	apply      func(b *broken)
	detectedBy string
}

// reacquire renews by acquiring the record again.
func reacquire(b *broken, h driver.Holding) (bool, error) {
	ctx := context.Background()
	g, err := b.forgetful.Acquire(ctx, driver.Request{
		Name: h.Name, First: h.Slot, Count: 1, Begin: h.Slot,
		Holder: h.Holder, TTL: h.TTL,
	})
	return g.OK, err
}

var errFault = errors.New("fault")

// defects contains backends with one fault each.
var defects = map[string]defect{
	"every caller is the holder": {func(b *broken) {
		b.acquire = func(context.Context, driver.Request) (driver.Grant, error) {
			return driver.Grant{OK: true, Token: time.Now().UnixMicro()}, nil
		}
	}, "Lock/OneHolderAtATime"},
	"wait longer than the TTL": {
		changeGrant(func(g *driver.Grant) { g.Wait *= 2 }),
		"Slots/WaitForFirstExpiry",
	},
	"release has no effect": {func(b *broken) {
		b.release = func(context.Context, driver.Holding) (bool, error) { return true, nil }
	}, "Lock/FreeAfterRelease"},
	"TTL too short": {
		changeRequest(func(r *driver.Request) { r.TTL = r.TTL * 9 / 10 }),
		"Lock/Expiry",
	},
	"TTL in whole seconds": {changeRequest(func(r *driver.Request) {
		r.TTL = r.TTL.Truncate(time.Second)
	}), "Lock/ShortestTTL"},
	"TTL is limited": {
		changeRequest(func(r *driver.Request) { r.TTL = min(r.TTL, time.Hour) }),
		"Lock/LongestTTL",
	},
	"wait is constant": {changeGrant(func(g *driver.Grant) {
		g.Wait = g.Wait.Round(time.Hour) + time.Minute
	}), "Lock/WaitCountsDown"},
	"holders are case-insensitive": {ignoreHolderCase, "Lock/HolderNames"},
	"constant tokens": {changeGrant(func(g *driver.Grant) {
		g.Token = time.Now().Truncate(time.Hour).UnixMicro()
	}), "Token/Increases"},
	"tokens decrease": {changeGrant(func(g *driver.Grant) {
		g.Token = -time.Now().UnixMicro()
	}), "Token/IncreasesAfterExpiry"},
	"tokens are not times": {
		changeGrant(func(g *driver.Grant) { g.Token = 1 }),
		"Token/TimeInMicroseconds",
	},
	"any holder may release": {
		acceptAnyHolder,
		"Release/FormerHolder",
	},
	"release always succeeds": {func(b *broken) {
		b.release = func(ctx context.Context, h driver.Holding) (bool, error) {
			_, err := b.forgetful.Release(ctx, h)
			return true, err
		}
	}, "Release/Once"},
	"release of an unknown name fails": {func(b *broken) {
		b.release = func(ctx context.Context, h driver.Holding) (bool, error) {
			held, err := b.forgetful.Release(ctx, h)
			if !held && err == nil {
				err = errors.New("no such record")
			}
			return held, err
		}
	}, "Release/UnknownName"},
	"release requires the token": {func(b *broken) {
		b.release = func(ctx context.Context, h driver.Holding) (bool, error) {
			if h.Token == 0 {
				return false, nil
			}
			return b.forgetful.Release(ctx, h)
		}
	}, "Release/WithoutToken"},
	"no capabilities": {func(b *broken) {
		b.capabilities = func() driver.Capabilities { return driver.Capabilities{} }
	}, "Capabilities/NameAndScope"},
	"renewal has no effect": {func(b *broken) {
		b.renew = func(context.Context, driver.Holding) (bool, error) { return true, nil }
	}, "Renew/Extends"},
	"renewal ignores the TTL": {func(b *broken) {
		b.renew = func(ctx context.Context, h driver.Holding) (bool, error) {
			h.TTL = time.Hour
			return b.forgetful.Renew(ctx, h)
		}
	}, "Renew/Expiry"},
	"expired record cannot be renewed": {func(b *broken) {
		b.renew = func(ctx context.Context, h driver.Holding) (bool, error) {
			if g, err := b.forgetful.Acquire(ctx, driver.Request{
				Name: h.Name, Count: 1, Holder: "x", TTL: time.Hour,
			}); g.OK || err != nil {
				return false, err
			}
			return b.forgetful.Renew(ctx, h)
		}
	}, "Renew/ExpiredRecord"},
	"any holder may renew": {func(b *broken) {
		b.renew = func(ctx context.Context, h driver.Holding) (bool, error) {
			_, err := b.forgetful.Renew(ctx, h)
			return true, err
		}
	}, "Renew/TakenRecord"},
	"late renewal acquires": {func(b *broken) {
		b.renew = func(ctx context.Context, h driver.Holding) (bool, error) {
			held, err := b.forgetful.Renew(ctx, h)
			if held || err != nil {
				return held, err
			}
			return reacquire(b, h)
		}
	}, "Renew/ReleasedRecord"},
	"age too large": {
		changeGrant(func(g *driver.Grant) { g.Age += time.Hour }),
		"Age/SinceFirstHolder",
	},
	"tokens restart after Forget": {smallTokens, "Forget/TokensIncrease"},
	"renewal does not restore a record": {
		strictRenewals,
		"Forget/RenewRestoresRecord",
	},
	"age of the server": {serverAge, "Forget/AgeRestarts"},
	"mark survives Forget": {
		changeGrant(func(g *driver.Grant) { g.Mark = max(g.Mark, 7) }),
		"Forget/Mark",
	},
	"acquire overwrites the mark": {func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			g, err := b.forgetful.Acquire(ctx, r)
			if g.OK && r.Count == 1 { // overwrite the stored mark
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
	}, "Mark/MaximumAtAcquire"},
	"marks are floating-point numbers": {changeGrant(func(g *driver.Grant) {
		g.Mark = int64(float64(g.Mark))
	}), "Mark/MaximumAtAcquire"},
	"renewal overwrites the mark": {func(b *broken) {
		b.renew = func(ctx context.Context, h driver.Holding) (bool, error) {
			if held, err := b.forgetful.Release(ctx, h); !held || err != nil {
				return held, err
			}
			return reacquire(b, h)
		}
	}, "Mark/MaximumAtRenew"},
	"release stores the larger mark": {func(b *broken) {
		b.release = func(ctx context.Context, h driver.Holding) (bool, error) {
			h.Mark = max(h.Mark, 1<<62+1)
			return b.forgetful.Release(ctx, h)
		}
	}, "Mark/OverwriteAtRelease"},
	"slots start at 0": {func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			r.First, r.Begin = 0, 0
			return b.forgetful.Acquire(ctx, r)
		}
	}, "Slots/OneHolderPerSlot"},
	"expired slot is not free": {func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			if r.Count > 1 {
				r.TTL = time.Hour
			}
			return b.forgetful.Acquire(ctx, r)
		}
	}, "Slots/Expiry"},
	"search ignores Begin": {
		changeRequest(func(r *driver.Request) { r.Begin = r.First }),
		"Slots/SearchStart",
	},
	"Past is ignored": {
		changeRequest(func(r *driver.Request) { r.Past = 1 << 40 }),
		"Slots/PreferPastMark",
	},
	"common mark of all slots": {
		changeGrant(func(g *driver.Grant) { g.Mark = 11 }),
		"Slots/TokensAndMarksPerSlot",
	},
	"ranges do not overlap": {func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			r.Name += string(rune('0' + r.First))
			return b.forgetful.Acquire(ctx, r)
		}
	}, "Slots/OverlappingRanges"},
	"one slot has two holders": {func(b *broken) {
		var n atomic.Int64
		b.acquire = func(_ context.Context, r driver.Request) (driver.Grant, error) {
			slot := r.First + int(n.Add(1)/2)
			return driver.Grant{OK: slot < r.First+r.Count, Slot: slot}, nil
		}
	}, "Slots/Many"},
	"age per slot": {
		changeGrant(func(g *driver.Grant) { g.Age = 0 }),
		"Slots/CommonAge",
	},
	"names are case-insensitive": {changeName(strings.ToLower), "Names/AllCharacters"},
	"names are patterns": {changeName(func(name string) string {
		return strings.ReplaceAll(name, "*", "b")
	}), "Names/QuotesPatternsAndCase"},
	"names are truncated to 191 bytes": {changeName(func(name string) string {
		return name[:min(len(name), 191)]
	}), "Names/Longest"},
	"names require two characters": {func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			if len(r.Name) < 2 {
				return driver.Grant{}, errFault
			}
			return b.forgetful.Acquire(ctx, r)
		}
	}, "Names/Shortest"},
	"context is ignored": {func(b *broken) {
		b.renew = func(_ context.Context, h driver.Holding) (bool, error) {
			return b.forgetful.Renew(context.Background(), h)
		}
	}, "Context/AlreadyCanceled"},
	"other error after the deadline": {func(b *broken) {
		b.acquire = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			if ctx.Err() != nil {
				return driver.Grant{}, errFault
			}
			return b.forgetful.Acquire(ctx, r)
		}
	}, "Context/CanceledDuringCall"},
	"acquire is not atomic":                     {notAtomic, "Race/OneHolderAtATime"},
	"acquire of an expired lease is not atomic": {notAtomic, "Race/ExpiredLease"},
}
