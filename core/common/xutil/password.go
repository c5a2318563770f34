package xutil

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// The lengths of a password, in bytes. The upper one keeps a request from costing more
// than a login does.
const (
	PasswordMinBytes = 1
	PasswordMaxBytes = 1024
)

// The errors of the password group. None of them contains a password or a hash.
var (
	// ErrPasswordLength is a VALIDATION_ERROR (400) that names the field password.
	ErrPasswordLength = passwordLength()
	// ErrPasswordBusy is SERVICE_UNAVAILABLE (503): too many callers wait for a hash.
	ErrPasswordBusy = xerror.New(xerror.ServiceUnavailable,
		"too many passwords are being hashed; try again later")
	ErrPasswordMismatch = errors.New("xutil: the password does not match")
	ErrPasswordHash     = errors.New("xutil: the password hash has an unknown or unsafe format")
)

func passwordLength() *xerror.Error {
	message := fmt.Sprintf("a password has %d to %d bytes", PasswordMinBytes, PasswordMaxBytes)
	// The problem is like xvalid.FieldError, whose package needs a validator.
	problem := map[string]string{"field": "password", "tag": "length", "message": message}
	return xerror.WrapData(xerror.ValidationError, xerror.ErrMessage(message), nil, []any{problem})
}

// Passwords hashes passwords and verifies them; get it with Password.
type Passwords struct{}

// Password returns the group that hashes and verifies passwords.
//
// A hash takes 19 MiB of memory for some tens of milliseconds. At most GOMAXPROCS run
// concurrently in the process, and 64 times as many callers wait. Further callers get
// ErrPasswordBusy. A caller whose context ends stops waiting and gets the context's
// error.
func Password() Passwords { return Passwords{} }

// Encrypt is EncryptString with the hash as bytes.
func (p Passwords) Encrypt(ctx context.Context, password string) ([]byte, error) {
	hash, err := p.EncryptString(ctx, password)
	if err != nil {
		return nil, err
	}
	return []byte(hash), nil
}

// EncryptString hashes a password of 1 to 1024 bytes with argon2id and a random salt. The
// result is a PHC string of 97 bytes. The errors are ErrPasswordLength, ErrPasswordBusy
// and that of ctx.
func (Passwords) EncryptString(ctx context.Context, password string) (string, error) {
	if !goodLength(password) {
		return "", ErrPasswordLength
	}
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails
	key, err := current.key(ctx, password, salt, keyBytes)
	if err != nil {
		return "", err
	}
	return argonHash{argonParams: current, salt: salt, key: key}.String(), nil
}

// MustEncryptString is EncryptString for passwords that the program itself holds; it
// panics.
func (p Passwords) MustEncryptString(ctx context.Context, password string) string {
	hash, err := p.EncryptString(ctx, password)
	if err != nil {
		panic(err)
	}
	return hash
}

// Verify compares a password with a hash, in a time that does not depend on where they
// differ. It knows argon2id and bcrypt. The errors are ErrPasswordMismatch,
// ErrPasswordLength, ErrPasswordHash, ErrPasswordBusy and that of ctx.
//
// Of a password longer than 72 bytes, bcrypt has only ever used the first 72.
func (Passwords) Verify(ctx context.Context, password, hash string) error {
	if !goodLength(password) {
		return ErrPasswordLength
	}
	if isBcrypt(hash) {
		return verifyBcrypt(ctx, password, hash)
	}
	h, err := parseArgon(hash)
	if err != nil {
		return err
	}
	key, err := h.argonParams.key(ctx, password, h.salt, len(h.key))
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(key, h.key) != 1 {
		return ErrPasswordMismatch
	}
	return nil
}

// IsValid reports whether a password matches a hash. A password of a wrong length does
// not. The other errors of Verify say that the comparison was not made.
func (p Passwords) IsValid(ctx context.Context, password, hash string) (bool, error) {
	err := p.Verify(ctx, password, hash)
	if errors.Is(err, ErrPasswordMismatch) || errors.Is(err, ErrPasswordLength) {
		return false, nil
	}
	return err == nil, err
}

// NeedsRehash reports whether a hash is made otherwise, or with less work, than
// EncryptString makes it now. Ask after a successful Verify, the one moment at which the
// password is at hand.
func (Passwords) NeedsRehash(hash string) bool {
	h, err := parseArgon(hash)
	return err != nil || h.memory < current.memory || h.time < current.time ||
		len(h.salt) < saltBytes || len(h.key) < keyBytes
}

func goodLength(password string) bool {
	return len(password) >= PasswordMinBytes && len(password) <= PasswordMaxBytes
}

// argonParams are the costs of argon2id (RFC 9106); memory is in KiB.
type argonParams struct {
	memory, time uint32
	threads      uint8
}

// current is the recommendation of the OWASP password storage cheat sheet for argon2id.
var current = argonParams{memory: 19 * 1024, time: 2, threads: 1}

const saltBytes, keyBytes = 16, 32

// The most that a stored hash may cost, so that one from a doubtful source cannot stop
// the service.
var costliest = argonParams{memory: 256 * 1024, time: 16, threads: 16}

const maxBcryptCost = 18

// waitingPerProcessor bounds the wait of a caller to as many hashes.
const waitingPerProcessor = 64

var (
	// running contains one element for each hash that is computed.
	running = make(chan struct{}, runtime.GOMAXPROCS(0))
	// admitted contains one element for each caller that waits for running or is in it.
	admitted = make(chan struct{}, (1+waitingPerProcessor)*runtime.GOMAXPROCS(0))
)

// limited calls compute when one of the places is free.
func limited[T any](ctx context.Context, compute func() T) (result T, err error) {
	if err := ctx.Err(); err != nil {
		return result, err
	}
	select {
	case admitted <- struct{}{}:
	default:
		return result, ErrPasswordBusy
	}
	defer func() { <-admitted }()
	select {
	case running <- struct{}{}:
	case <-ctx.Done():
		return result, ctx.Err()
	}
	defer func() { <-running }()
	return compute(), nil
}

func (p argonParams) key(
	ctx context.Context, password string, salt []byte, length int,
) ([]byte, error) {
	return limited(ctx, func() []byte {
		// at most 64
		return argon2.IDKey([]byte(password), salt, p.time, p.memory, p.threads, uint32(length))
	})
}

// argonHash is what a PHC string holds.
type argonHash struct {
	argonParams
	salt, key []byte
}

// String returns $argon2id$v=19$m=<KiB>,t=<passes>,p=<threads>$<salt>$<key>.
func (h argonHash) String() string {
	enc := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, h.memory, h.time, h.threads,
		enc.EncodeToString(h.salt), enc.EncodeToString(h.key))
}

// parseArgon reads a PHC string of argon2id, in the form that String writes.
func parseArgon(hash string) (h argonHash, err error) {
	part := strings.Split(hash, "$")
	if len(part) != 6 {
		return h, ErrPasswordHash
	}
	_, err = fmt.Sscanf(part[3], "m=%d,t=%d,p=%d", &h.memory, &h.time, &h.threads)
	salt, saltErr := base64.RawStdEncoding.DecodeString(part[4])
	key, keyErr := base64.RawStdEncoding.DecodeString(part[5])
	h.salt, h.key = salt, key
	if errors.Join(err, saltErr, keyErr) != nil || !h.acceptable() || h.String() != hash {
		return argonHash{}, ErrPasswordHash
	}
	return h, nil
}

// acceptable reports whether salt and key are long enough, and neither they nor the costs
// too large.
func (h argonHash) acceptable() bool {
	return h.memory > 0 && h.memory <= costliest.memory && h.time > 0 && h.time <= costliest.time &&
		h.threads > 0 && h.threads <= costliest.threads &&
		len(h.salt) >= 8 && len(h.salt) <= 64 && len(h.key) >= 16 && len(h.key) <= 64
}

func isBcrypt(hash string) bool {
	return len(hash) > 4 && hash[0] == '$' && hash[1] == '2' && hash[3] == '$' &&
		strings.ContainsRune("abxy", rune(hash[2]))
}

func verifyBcrypt(ctx context.Context, password, hash string) error {
	if cost, err := bcrypt.Cost([]byte(hash)); err != nil || cost > maxBcryptCost {
		return ErrPasswordHash
	}
	result, err := limited(ctx,
		func() error { return bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) })
	if err != nil {
		return err
	}
	switch {
	case result == nil:
		return nil
	case errors.Is(result, bcrypt.ErrMismatchedHashAndPassword):
		return ErrPasswordMismatch
	default:
		return ErrPasswordHash
	}
}
