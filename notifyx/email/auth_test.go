package email_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/emersion/go-sasl"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/email"
)

// saslSteps is the server side of a login. Each step gets the response of the client and
// returns the next challenge.
type saslSteps struct {
	steps []func(response []byte) (challenge []byte, err error)
	done  func() error
}

func (s *saslSteps) Next(response []byte) (challenge []byte, done bool, err error) {
	if len(s.steps) == 0 {
		return nil, true, s.done()
	}
	step := s.steps[0]
	s.steps = s.steps[1:]
	challenge, err = step(response)
	if err == nil && challenge == nil {
		return nil, true, s.done()
	}
	return challenge, false, err
}

func loginMech(s *server) func() sasl.Server {
	return func() sasl.Server {
		var name, pass string
		return &saslSteps{steps: []func([]byte) ([]byte, error){
			func([]byte) ([]byte, error) { return []byte("Username:"), nil },
			func(r []byte) ([]byte, error) { name = string(r); return []byte("Password:"), nil },
			func(r []byte) ([]byte, error) { pass = string(r); return nil, nil },
		}, done: func() error { return s.check(name == user && pass == password) }}
	}
}

func cramMech(s *server) func() sasl.Server {
	return func() sasl.Server {
		const challenge = "<1.2@test.example>"
		var response string
		return &saslSteps{steps: []func([]byte) ([]byte, error){
			func([]byte) ([]byte, error) { return []byte(challenge), nil },
			func(r []byte) ([]byte, error) { response = string(r); return nil, nil },
		}, done: func() error {
			mac := hmac.New(md5.New, []byte(password))
			mac.Write([]byte(challenge))
			return s.check(response == user+" "+hex.EncodeToString(mac.Sum(nil)))
		}}
	}
}

// scramMech is SCRAM-SHA-256 (RFC 7677) without channel binding.
func scramMech(s *server) func() sasl.Server {
	return scramWith(s, func() string { return "n,," })
}

// scramPlusMech is SCRAM-SHA-256-PLUS with the channel binding of RFC 9266.
func scramPlusMech(s *server) func() sasl.Server {
	return scramWith(s, func() string {
		state, _ := s.last.TLSConnectionState()
		data, err := state.ExportKeyingMaterial("EXPORTER-Channel-Binding", nil, 32)
		must(err)
		return "p=tls-exporter,," + string(data)
	})
}

// scramWith verifies the login and its channel binding.
func scramWith(s *server, binding func() string) func() sasl.Server {
	return func() sasl.Server {
		salt, bare, first := []byte("0123456789abcdef"), "", ""
		salted, err := pbkdf2.Key(sha256.New, password, salt, 4096, 32)
		must(err)
		sum := func(key []byte, text string) []byte {
			mac := hmac.New(sha256.New, key)
			mac.Write([]byte(text))
			return mac.Sum(nil)
		}
		ok := false
		return &saslSteps{steps: []func([]byte) ([]byte, error){
			func([]byte) ([]byte, error) { return []byte{}, nil },
			func(r []byte) ([]byte, error) {
				_, bare, _ = strings.Cut(string(r), ",,")
				_, nonce, _ := strings.Cut(bare, ",r=")
				first = "r=" + nonce + "srv,s=" + base64.StdEncoding.EncodeToString(salt) +
					",i=4096"
				return []byte(first), nil
			},
			func(r []byte) ([]byte, error) {
				without, proof, _ := strings.Cut(string(r), ",p=")
				message := bare + "," + first + "," + without
				clientKey := sum(salted, "Client Key")
				stored := sha256.Sum256(clientKey)
				signature := sum(stored[:], message)
				want := make([]byte, len(clientKey))
				for i := range want {
					want[i] = clientKey[i] ^ signature[i]
				}
				got, _ := base64.StdEncoding.DecodeString(proof)
				bound := strings.HasPrefix(without,
					"c="+base64.StdEncoding.EncodeToString([]byte(binding()))+",")
				ok = bytes.Equal(got, want) && bound
				return []byte("v=" +
					base64.StdEncoding.EncodeToString(sum(sum(salted, "Server Key"), message))), nil
			},
			func([]byte) ([]byte, error) { return nil, nil },
		}, done: func() error { return s.check(ok) }}
	}
}

func TestEmailClient_Auth(t *testing.T) {
	t.Run("supports each mechanism", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			mech func(*server) func() sasl.Server
		}{
			{"LOGIN", loginMech},
			{"CRAM-MD5", cramMech},
			{"SCRAM-SHA-256", scramMech},
			{"SCRAM-SHA-256-PLUS", scramPlusMech},
		} {
			t.Run(tc.name, func(t *testing.T) {
				client, s := connect(t,
					func(s *server) {
						s.mechs = map[string]func() sasl.Server{tc.name: tc.mech(s)}
					})
				if err := client.Send(t.Context(), hello()); err != nil || s.logins != 1 {
					t.Errorf("Send = %v with %d logins", err, s.logins)
				}
			})
		}
	})

	t.Run("uses the strongest mechanism", func(t *testing.T) {
		client, s := connect(t, func(s *server) {
			fail := func() sasl.Server {
				return &saslSteps{done: func() error { return s.check(false) }}
			}
			s.mechs = map[string]func() sasl.Server{
				"PLAIN": fail, "LOGIN": fail, "CRAM-MD5": fail, "SCRAM-SHA-256": scramMech(s),
			}
		})
		if err := client.Send(t.Context(), hello()); err != nil || s.logins != 1 {
			t.Errorf("Send = %v with %d logins", err, s.logins)
		}
	})

	t.Run("fails with ErrAuth for a wrong password", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			mech func(*server) func() sasl.Server
		}{
			{"PLAIN", func(s *server) func() sasl.Server { return s.mechs["PLAIN"] }},
			{"LOGIN", loginMech},
			{"CRAM-MD5", cramMech},
			{"SCRAM-SHA-256", scramMech},
		} {
			t.Run(tc.name, func(t *testing.T) {
				s := startServer(t,
					func(s *server) {
						s.mechs = map[string]func() sasl.Server{tc.name: tc.mech(s)}
					})
				c := config(s.port)
				c.Pass = "other-Geheim"
				log, engine := capture(t)
				err := newClient(t, c).Send(xlog.NewContext(t.Context(), engine), hello())
				if !errors.Is(err, email.ErrAuth) || errors.Is(err, notifyx.ErrPermanent) {
					t.Errorf("Send = %v, want ErrAuth and not ErrPermanent", err)
				}
				if s.sessions != 2 && s.sessions != 1 || s.mails != 0 {
					t.Errorf("%d sessions and %d MAIL commands, want 1 or 2 and none",
						s.sessions, s.mails)
				}
				if text := err.Error() + log.String(); strings.Contains(text, "Geheim") ||
					strings.Contains(text, user+" ") {
					t.Errorf("output contains the password: %s", text)
				}
				if code := xerror.From(err).GetErrorCode(); code != xerror.EmailError {
					t.Errorf("code = %s", code.GetOutput())
				}
			})
		}
	})

	t.Run("fails with ErrAuth if the server offers no mechanism", func(t *testing.T) {
		client, s := connect(t, func(s *server) {
			s.mechs = map[string]func() sasl.Server{"EXTERNAL": nil}
		})
		if err := client.Send(t.Context(), hello()); !errors.Is(err, email.ErrAuth) ||
			s.mails != 0 {
			t.Errorf("Send = %v, want ErrAuth", err)
		}
	})

	t.Run("is skipped without a user", func(t *testing.T) {
		s := startServer(t, nil)
		c := config(s.port)
		c.User, c.Pass = "", ""
		if err := newClient(t, c).Send(t.Context(), hello()); err != nil || s.logins != 0 {
			t.Errorf("Send = %v with %d logins", err, s.logins)
		}
	})
}
