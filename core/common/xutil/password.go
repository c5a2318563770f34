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

// The length limits of a password, in bytes. The maximum limits the cost of a request.
const (
	PasswordMinBytes = 1
	PasswordMaxBytes = 1024
)

// Errors of Passwords. They contain neither the password nor the hash.
var (
	// ErrPasswordLength is a VALIDATION_ERROR (400) of the field password.
	ErrPasswordLength = passwordLength()
	// ErrPasswordBusy is a SERVICE_UNAVAILABLE (503): too many callers wait for a hash.
	ErrPasswordBusy = xerror.New(xerror.ServiceUnavailable,
		"too many password hashes in progress; retry later")
	ErrPasswordMismatch = errors.New("xutil: the password does not match")
	ErrPasswordHash     = errors.New("xutil: the password hash has an unknown or unsafe format")
)

func passwordLength() *xerror.Error {
	message := fmt.Sprintf("the password must have %d to %d bytes",
		PasswordMinBytes, PasswordMaxBytes)
	// The format is that of xvalid.FieldError, whose package imports a validator.
	problem := map[string]string{"field": "password", "tag": "length", "message": message}
	return xerror.WrapData(xerror.ValidationError, xerror.ErrMessage(message), nil, []any{problem})
}

// Passwords hashes and verifies passwords. See Password.
type Passwords struct{}

// Password returns the Passwords group.
//
// A hash uses 19 MiB of memory for some tens of milliseconds. The process computes at
// most GOMAXPROCS hashes concurrently, and at most 64 times as many callers wait. Any
// further caller gets ErrPasswordBusy. If the context of a waiting caller is done, the
// caller gets ctx.Err().
func Password() Passwords { return Passwords{} }

// Encrypt is like EncryptString but returns bytes.
func (p Passwords) Encrypt(ctx context.Context, password string) ([]byte, error) {
	hash, err := p.EncryptString(ctx, password)
	if err != nil {
		return nil, err
	}
	return []byte(hash), nil
}

// EncryptString hashes a password of 1 to 1024 bytes with argon2id and a random salt. The
// result is a PHC string of 97 bytes. The error is ErrPasswordLength, ErrPasswordBusy or
// ctx.Err().
func (Passwords) EncryptString(ctx context.Context, password string) (string, error) {
	if !validLength(password) {
		return "", ErrPasswordLength
	}
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails
	key, err := defaultParams.key(ctx, password, salt, keyBytes)
	if err != nil {
		return "", err
	}
	return argonHash{argonParams: defaultParams, salt: salt, key: key}.String(), nil
}

// MustEncryptString is like EncryptString but panics on an error. It is for passwords
// that the program itself provides.
func (p Passwords) MustEncryptString(ctx context.Context, password string) string {
	hash, err := p.EncryptString(ctx, password)
	if err != nil {
		panic(err)
	}
	return hash
}

// Verify compares a password with an argon2id or bcrypt hash in constant time. The error
// is ErrPasswordMismatch, ErrPasswordLength, ErrPasswordHash, ErrPasswordBusy or
// ctx.Err().
//
// bcrypt hashes cover only the first 72 bytes of a password.
func (Passwords) Verify(ctx context.Context, password, hash string) error {
	if !validLength(password) {
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

// IsValid reports whether a password matches a hash. A password of an invalid length does
// not match. Other errors of Verify mean that the passwords were not compared.
func (p Passwords) IsValid(ctx context.Context, password, hash string) (bool, error) {
	err := p.Verify(ctx, password, hash)
	if errors.Is(err, ErrPasswordMismatch) || errors.Is(err, ErrPasswordLength) {
		return false, nil
	}
	return err == nil, err
}

// NeedsRehash reports whether EncryptString would create a stronger hash or one of
// another format. Call it after a successful Verify, while the password is available.
func (Passwords) NeedsRehash(hash string) bool {
	h, err := parseArgon(hash)
	return err != nil || h.memory < defaultParams.memory || h.time < defaultParams.time ||
		len(h.salt) < saltBytes || len(h.key) < keyBytes
}

func validLength(password string) bool {
	return len(password) >= PasswordMinBytes && len(password) <= PasswordMaxBytes
}

// argonParams are the cost parameters of argon2id (RFC 9106). memory is in KiB.
type argonParams struct {
	memory, time uint32
	threads      uint8
}

// defaultParams are recommended for argon2id by the OWASP password storage cheat sheet.
var defaultParams = argonParams{memory: 19 * 1024, time: 2, threads: 1}

const saltBytes, keyBytes = 16, 32

// maxParams limits the cost of stored hashes, so that a malicious hash cannot exhaust the
// service.
var maxParams = argonParams{memory: 256 * 1024, time: 16, threads: 16}

const maxBcryptCost = 18

const waitingPerProcessor = 64

var (
	// running contains one element for each hash in progress.
	running = make(chan struct{}, runtime.GOMAXPROCS(0))
	// admitted contains one element for each caller that computes or waits.
	admitted = make(chan struct{}, (1+waitingPerProcessor)*runtime.GOMAXPROCS(0))
)

// withSlot waits for a free slot and calls compute. It returns ErrPasswordBusy if too
// many callers wait, and ctx.Err() if ctx is done first.
func withSlot[T any](ctx context.Context, compute func() T) (result T, err error) {
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
	return withSlot(ctx, func() []byte {
		// length is at most 64
		return argon2.IDKey([]byte(password), salt, p.time, p.memory, p.threads, uint32(length))
	})
}

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

// parseArgon parses an argon2id PHC string in the format of String.
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

func (h argonHash) acceptable() bool {
	return h.memory > 0 && h.memory <= maxParams.memory && h.time > 0 && h.time <= maxParams.time &&
		h.threads > 0 && h.threads <= maxParams.threads &&
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
	result, err := withSlot(ctx,
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
