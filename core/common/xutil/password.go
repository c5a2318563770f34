package xutil

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// The lengths of a password, in bytes. The upper one keeps a request from costing more than a login does.
const (
	PasswordMinBytes = 1
	PasswordMaxBytes = 1024
)

// The errors of the password group. None of them says anything of the password or of the hash.
var (
	ErrPasswordLength   = fmt.Errorf("xutil: a password has %d to %d bytes", PasswordMinBytes, PasswordMaxBytes)
	ErrPasswordMismatch = errors.New("xutil: the password does not match")
	ErrPasswordHash     = errors.New("xutil: the password hash has an unknown or unsafe format")
)

// Passwords hashes passwords and verifies them; get it with Password.
type Passwords struct{}

// Password returns the group that hashes and verifies passwords.
//
// A hash takes 19 MiB of memory for its duration, some tens of milliseconds. No more than GOMAXPROCS run
// at a time in the process, further callers wait, so that many logins at once cannot exhaust the memory.
func Password() Passwords { return Passwords{} }

// Encrypt is EncryptString with the hash as bytes.
func (p Passwords) Encrypt(password string) ([]byte, error) {
	hash, err := p.EncryptString(password)
	if err != nil {
		return nil, err
	}
	return []byte(hash), nil
}

// EncryptString hashes a password of 1 to 1024 bytes with argon2id and a random salt. The result is a PHC
// string of 97 bytes. The error is ErrPasswordLength.
func (Passwords) EncryptString(password string) (string, error) {
	if !goodLength(password) {
		return "", ErrPasswordLength
	}
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails
	return argonHash{argonParams: current, salt: salt, key: current.key(password, salt, keyBytes)}.String(), nil
}

// MustEncryptString is EncryptString for passwords that the program itself holds; it panics.
func (p Passwords) MustEncryptString(password string) string {
	hash, err := p.EncryptString(password)
	if err != nil {
		panic(err)
	}
	return hash
}

// Verify compares a password with a hash, in a time that does not depend on where they differ. It knows
// argon2id and bcrypt. The errors are ErrPasswordMismatch, ErrPasswordLength and ErrPasswordHash.
//
// Of a password longer than 72 bytes, bcrypt has only ever used the first 72.
func (Passwords) Verify(password, hash string) error {
	if !goodLength(password) {
		return ErrPasswordLength
	}
	if isBcrypt(hash) {
		return verifyBcrypt(password, hash)
	}
	h, err := parseArgon(hash)
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(h.argonParams.key(password, h.salt, len(h.key)), h.key) != 1 {
		return ErrPasswordMismatch
	}
	return nil
}

// IsValid reports whether Verify finds no error.
func (p Passwords) IsValid(password, hash string) bool { return p.Verify(password, hash) == nil }

// NeedsRehash reports whether a hash is made otherwise, or with less work, than EncryptString makes it now.
// Ask after a successful Verify, the one moment at which the password is at hand.
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

// The most that a stored hash may cost, so that one from a doubtful source cannot stop the service.
var costliest = argonParams{memory: 256 * 1024, time: 16, threads: 16}

const maxBcryptCost = 18

// running holds a place for each hash that is computed.
var running = make(chan struct{}, runtime.GOMAXPROCS(0))

func limited[T any](compute func() T) T {
	running <- struct{}{}
	defer func() { <-running }()
	return compute()
}

func (p argonParams) key(password string, salt []byte, length int) []byte {
	return limited(func() []byte {
		return argon2.IDKey([]byte(password), salt, p.time, p.memory, p.threads, uint32(length)) //nolint:gosec // at most 64
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
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memory, h.time, h.threads,
		enc.EncodeToString(h.salt), enc.EncodeToString(h.key))
}

// parseArgon reads a PHC string of argon2id.
func parseArgon(hash string) (argonHash, error) {
	part := strings.Split(hash, "$")
	if len(part) != 6 || part[0] != "" || part[1] != "argon2id" || part[2] != "v="+strconv.Itoa(argon2.Version) {
		return argonHash{}, ErrPasswordHash
	}
	params, ok1 := parseParams(part[3])
	salt, ok2 := parseBytes(part[4], 8)
	key, ok3 := parseBytes(part[5], 16)
	if !ok1 || !ok2 || !ok3 {
		return argonHash{}, ErrPasswordHash
	}
	return argonHash{argonParams: params, salt: salt, key: key}, nil
}

func parseParams(text string) (p argonParams, ok bool) {
	cost := strings.Split(text, ",")
	if len(cost) != 3 {
		return p, false
	}
	var threads uint32
	ok = parseCost(cost[0], "m=", &p.memory, costliest.memory) &&
		parseCost(cost[1], "t=", &p.time, costliest.time) &&
		parseCost(cost[2], "p=", &threads, uint32(costliest.threads))
	p.threads = uint8(threads)
	return p, ok
}

// parseBytes reads at least shortest and at most 64 bytes.
func parseBytes(text string, shortest int) (data []byte, ok bool) {
	data, err := base64.RawStdEncoding.Strict().DecodeString(text)
	return data, err == nil && len(data) >= shortest && len(data) <= 64
}

func parseCost(text, prefix string, to *uint32, limit uint32) bool {
	digits, found := strings.CutPrefix(text, prefix)
	n, err := strconv.ParseUint(digits, 10, 32)
	*to = uint32(n)
	return found && err == nil && n > 0 && n <= uint64(limit)
}

func isBcrypt(hash string) bool {
	return len(hash) > 4 && hash[0] == '$' && hash[1] == '2' && hash[3] == '$' && strings.ContainsRune("abxy", rune(hash[2]))
}

func verifyBcrypt(password, hash string) error {
	if cost, err := bcrypt.Cost([]byte(hash)); err != nil || cost > maxBcryptCost {
		return ErrPasswordHash
	}
	err := limited(func() error { return bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) })
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bcrypt.ErrMismatchedHashAndPassword):
		return ErrPasswordMismatch
	default:
		return ErrPasswordHash
	}
}
