package xutil_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xutil"
)

func TestPasswords_Verify(t *testing.T) {
	t.Run("accepts passwords of 1 to 1024 bytes", func(t *testing.T) {
		if testing.Short() {
			t.Skip("hashes many passwords")
		}
		p := xutil.Password()
		for _, tc := range []struct{ name, password string }{
			{name: "one byte", password: "x"},
			{name: "55 bytes", password: strings.Repeat("p", 55)},
			{name: "73 bytes", password: strings.Repeat("p", 73)},
			{name: "1024 bytes", password: strings.Repeat("p", 1024)},
			{name: "Chinese", password: "密码一二三"},
			{name: "NUL inside", password: "a\x00b"},
			{name: "invalid UTF-8", password: "\xff\xfe"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				hash, err := p.EncryptString(t.Context(), tc.password)
				if err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || len(hash) != 97 {
					t.Errorf("hash = %q, want a PHC string", hash)
				}
				if err := p.Verify(t.Context(), tc.password, hash); err != nil {
					t.Errorf("Verify: %v", err)
				}
				for _, other := range []string{tc.password[:len(tc.password)-1] + "y", "other"} {
					err := p.Verify(t.Context(), other, hash)
					if !errors.Is(err, xutil.ErrPasswordMismatch) {
						t.Errorf("Verify of another password = %v, want ErrPasswordMismatch", err)
					}
				}
				if p.NeedsRehash(hash) {
					t.Error("NeedsRehash of a new hash = true")
				}
			})
		}
	})

	t.Run("compares only 72 bytes with a bcrypt hash", func(t *testing.T) {
		short, long := strings.Repeat("p", 72), strings.Repeat("p", 100)
		hash, err := bcrypt.GenerateFromPassword([]byte(short), bcrypt.MinCost)
		if err != nil {
			t.Fatal(err)
		}
		if err := xutil.Password().Verify(t.Context(), long, string(hash)); err != nil {
			t.Errorf("Verify: %v", err)
		}
	})
}

func TestPasswords_Encrypt(t *testing.T) {
	a, _ := xutil.Password().Encrypt(t.Context(), "secret")
	b := xutil.Password().MustEncryptString(t.Context(), "secret")
	if string(a) == b || !valid(t, "secret", string(a)) || !valid(t, "secret", b) {
		t.Error("the hashes are equal, or do not match the password")
	}
}

func TestErrPasswordLength(t *testing.T) {
	t.Run("is returned for 0 and 1025 bytes", func(t *testing.T) {
		for _, password := range []string{"", strings.Repeat("p", 1025)} {
			_, err := xutil.Password().EncryptString(t.Context(), password)
			if !errors.Is(err, xutil.ErrPasswordLength) {
				t.Errorf("EncryptString of %d bytes = %v, want ErrPasswordLength",
					len(password), err)
			}
			_, err = xutil.Password().Encrypt(t.Context(), password)
			if !errors.Is(err, xutil.ErrPasswordLength) {
				t.Errorf("Encrypt of %d bytes = %v, want ErrPasswordLength", len(password), err)
			}
			err = xutil.Password().Verify(t.Context(), password, "$2a$")
			if !errors.Is(err, xutil.ErrPasswordLength) {
				t.Errorf("Verify of %d bytes = %v, want ErrPasswordLength", len(password), err)
			}
			func() {
				defer func() {
					if err, ok := recover().(error); !ok ||
						!errors.Is(err, xutil.ErrPasswordLength) {
						t.Errorf("MustEncryptString panicked with %v", err)
					}
				}()
				xutil.Password().MustEncryptString(t.Context(), password)
			}()
		}
	})

	t.Run("is a validation error of the field password", func(t *testing.T) {
		_, err := xutil.Password().EncryptString(t.Context(), "")
		e := xerror.From(err)
		if e.GetErrorCode().Status() != http.StatusBadRequest ||
			!errors.Is(e, xerror.ValidationError) {
			t.Errorf("code = %v, want VALIDATION_ERROR with 400", e.GetErrorCode())
		}
		if data, err := json.Marshal(e.GetData()); err != nil ||
			!strings.Contains(string(data), `"field":"password"`) {
			t.Errorf("data = %s, %v; want the field password", data, err)
		}
	})
}

func TestPasswords_Verify_Hashes(t *testing.T) {
	// The first hash was created by the reference implementation:
	// echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1 -l 32
	t.Run("accepts hashes of other implementations", func(t *testing.T) {
		if testing.Short() {
			t.Skip("hashes many passwords")
		}
		reference := "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
		if err := xutil.Password().Verify(t.Context(), "password", reference); err != nil {
			t.Errorf("Verify of the reference hash: %v", err)
		}
		if !xutil.Password().NeedsRehash(reference) {
			t.Error("NeedsRehash of a hash with a salt of 8 bytes = false")
		}
		for _, version := range []string{"2a", "2b", "2y"} {
			bcryptHash, err := bcrypt.GenerateFromPassword([]byte("password"), bcrypt.MinCost)
			if err != nil {
				t.Fatal(err)
			}
			hash := "$" + version + string(bcryptHash[3:])
			if err := xutil.Password().Verify(t.Context(), "password", hash); err != nil {
				t.Errorf("%s: Verify: %v", version, err)
			}
			err = xutil.Password().Verify(t.Context(), "wrong", hash)
			if !errors.Is(err, xutil.ErrPasswordMismatch) {
				t.Errorf("%s: Verify of another password = %v, want ErrPasswordMismatch",
					version, err)
			}
			if !xutil.Password().NeedsRehash(hash) {
				t.Errorf("%s: NeedsRehash = false", version)
			}
		}
	})

	t.Run("rejects invalid and expensive hashes", func(t *testing.T) {
		const salt, key = "c29tZXNhbHRzb21lc2FsdA", "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
		for _, hash := range []string{
			"", "secret", "$", "$$$$$", "$2a$",
			"$2a$99$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
			"$2a$31$" + strings.Repeat("a", 53),
			"$argon2i$v=19$m=19456,t=2,p=1$" + salt + "$" + key,
			"$argon2id$v=16$m=19456,t=2,p=1$" + salt + "$" + key,
			"$argon2id$v=19$m=4000000000,t=2,p=1$" + salt + "$" + key,
			"$argon2id$v=19$m=19456,t=4000000,p=1$" + salt + "$" + key,
			"$argon2id$v=19$m=19456,t=2,p=255$" + salt + "$" + key,
			"$argon2id$v=19$m=19456,t=2,p=0$" + salt + "$" + key,
			"$argon2id$v=19$m=0,t=2,p=1$" + salt + "$" + key,
			"$argon2id$v=19$m=19456,t=-2,p=1$" + salt + "$" + key,
			"$argon2id$v=19$t=2,m=19456,p=1$" + salt + "$" + key,
			"$argon2id$v=19$m=19456,t=2$" + salt + "$" + key,
			"$argon2id$v=19$m=19456,t=2,p=1$" + salt + "$",
			"$argon2id$v=19$m=19456,t=2,p=1$$" + key,
			"$argon2id$v=19$m=19456,t=2,p=1$" + salt + "$!!!!" + key,
			"$argon2id$v=19$m=19456,t=2,p=1$" + salt + "$" + key + "$",
		} {
			err := xutil.Password().Verify(t.Context(), "hunter2", hash)
			if !errors.Is(err, xutil.ErrPasswordHash) {
				t.Errorf("Verify(%q) = %v, want ErrPasswordHash", hash, err)
			}
			if err != nil && (strings.Contains(err.Error(), "hunter2") ||
				strings.Contains(err.Error(), key)) {
				t.Errorf("the error contains a secret: %v", err)
			}
			if !xutil.Password().NeedsRehash(hash) {
				t.Errorf("NeedsRehash(%q) = false", hash)
			}
		}
	})
}

func TestPasswords_Verify_Concurrent(t *testing.T) {
	t.Run("computes at most GOMAXPROCS hashes", func(t *testing.T) {
		if testing.Short() {
			t.Skip("hashes many passwords")
		}
		hash := xutil.Password().MustEncryptString(t.Context(), "secret")
		var wg sync.WaitGroup
		for range 8 * runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				if running := xutil.RunningHashes(); running > runtime.GOMAXPROCS(0) {
					t.Errorf("%d concurrent hashes, want at most %d",
						running, runtime.GOMAXPROCS(0))
				}
				if !valid(t, "secret", hash) {
					t.Error("the password does not match")
				}
			})
		}
		wg.Wait()
		if running := xutil.RunningHashes(); running != 0 {
			t.Errorf("%d hashes still running", running)
		}
	})

	t.Run("removes canceled callers from the queue", func(t *testing.T) {
		hash := xutil.Password().MustEncryptString(t.Context(), "secret")
		release := xutil.OccupyHashes()
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error, xutil.MaxWaitingHashes+50)
		for range cap(errs) {
			go func() { errs <- xutil.Password().Verify(ctx, "secret", hash) }()
		}
		busy := cap(errs) - xutil.MaxWaitingHashes
		for range busy {
			if err := <-errs; !errors.Is(err, xutil.ErrPasswordBusy) ||
				xerror.From(err).GetErrorCode().Status() != http.StatusServiceUnavailable {
				t.Fatalf("caller beyond the limit: %v, want ErrPasswordBusy with 503", err)
			}
		}
		cancel()
		for range xutil.MaxWaitingHashes {
			if err := <-errs; !errors.Is(err, context.Canceled) {
				t.Errorf("canceled caller: %v, want context.Canceled", err)
			}
		}
		release()
		if err := xutil.Password().Verify(t.Context(), "secret", hash); err != nil {
			t.Errorf("next caller: %v", err)
		}
	})
}

func FuzzPasswords_Verify(f *testing.F) {
	f.Add("$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc")
	f.Add("$2a$04$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, hash string) {
		if xutil.Password().NeedsRehash(hash) && len(hash) > 200 {
			t.Skip("costly")
		}
		if ok, _ := xutil.Password().IsValid(t.Context(), "another password", hash); ok {
			t.Errorf("IsValid(%q) = true", hash)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	hash := xutil.Password().MustEncryptString(b.Context(), "secret")
	b.ReportAllocs()
	for b.Loop() {
		_ = xutil.Password().Verify(b.Context(), "secret", hash)
	}
}

func ExamplePassword() {
	ctx := context.Background()
	hash, err := xutil.Password().EncryptString(ctx, "correct horse")
	fmt.Println(err)
	fmt.Println(xutil.Password().Verify(ctx, "correct horse", hash))
	fmt.Println(xutil.Password().Verify(ctx, "wrong horse", hash))
	fmt.Println(xutil.Password().NeedsRehash(hash))
	// Output:
	// <nil>
	// <nil>
	// xutil: the password does not match
	// false
}

func valid(t *testing.T, password, hash string) bool {
	t.Helper()
	ok, err := xutil.Password().IsValid(t.Context(), password, hash)
	if err != nil {
		t.Error(err)
	}
	return ok
}
