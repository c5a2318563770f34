package sqlserver_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/sqlserver"
)

// certified is a self-signed certificate.
type certified struct {
	tls tls.Certificate
	pem []byte
}

// authority creates a certificate for 127.0.0.1.
func authority(tb testing.TB) certified {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "double"}, IsCA: true,
		BasicConstraintsValid: true,
		NotBefore:             time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		tb.Fatal(err)
	}
	return certified{
		tls: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}
}

// file writes the certificate to a file with an extension that the library rejects.
func (c certified) file(tb testing.TB) string {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "ca.crt")
	if err := os.WriteFile(name, c.pem, 0o600); err != nil {
		tb.Fatal(err)
	}
	return name
}

func TestConnector_Login(t *testing.T) {
	t.Run("sends the user, password and database unchanged", func(t *testing.T) {
		s := start(t, tdsOptions{})
		for _, text := range specialStrings {
			parts := partsOf(s)
			parts.Pass, parts.Name = text, text+"d"
			if parts.User = text + "u"; strings.Contains(text, `\`) {
				parts.User = "u" // otherwise it is a Windows user
			}
			s.Reset()
			open(t, s, xdb.Options{Parts: parts})
			want := tdsLogin{
				User: parts.User, Password: parts.Pass, Database: parts.Name, App: "plinth",
			}
			if got := s.Logins(); len(got) != 1 || got[0] != want {
				t.Errorf("logins = %+v, want %+v", got, want)
			}
		}
	})

	t.Run("stops when the server does not respond", func(t *testing.T) {
		s := start(t, tdsOptions{Silent: true})
		dsn, err := sqlserver.Driver{}.DSN(partsOf(s))
		if err != nil {
			t.Fatal(err)
		}
		db, err := gorm.Open(sqlserver.Driver{}.Dialector(dsn),
			&gorm.Config{DisableAutomaticPing: true, Logger: logger.Discard})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = xdb.Close(db) }()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		startTime := time.Now()
		err = db.WithContext(ctx).Exec("SELECT 1").Error
		if elapsed := time.Since(startTime); !errors.Is(err, context.DeadlineExceeded) ||
			elapsed > 10*time.Second {
			t.Errorf("Exec = %v after %s, want DeadlineExceeded without delay", err, elapsed)
		}
		eventually(t, "the connection is closed", func() bool { return s.Connections() == 0 })
	})
}

// rejecting starts a double that rejects every login.
func rejecting(tb testing.TB, errs ...tdsError) *tdsServer {
	tb.Helper()
	return start(tb, tdsOptions{Login: func(tdsLogin) []tdsError { return errs }})
}

func TestOpen_Login(t *testing.T) {
	t.Run("does not retry a rejected login", func(t *testing.T) {
		loginFailed := tdsError{Number: 18456, Message: "Login failed for user 'app'."}
		unknown := tdsError{
			Number: 4060, Class: 11,
			Message: `Cannot open database "app" requested by the login. The login failed.`,
		}
		for _, tc := range []struct {
			name string
			errs []tdsError
			want driver.ErrorKind
		}{
			{name: "wrong password", errs: []tdsError{loginFailed}, want: driver.Authentication},
			{
				name: "unknown database",
				errs: []tdsError{unknown, loginFailed}, want: driver.UnknownDatabase,
			},
			{
				name: "locked account",
				errs: []tdsError{{Number: 18486, Message: "x"}, loginFailed},
				want: driver.Authentication,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				s := rejecting(t, tc.errs...)
				ctx, log := background(t)
				start := time.Now()
				_, err := xdb.Open(ctx, xdb.Options{Driver: sqlserver.Name, Parts: partsOf(s)})
				if got := (sqlserver.Driver{}).ErrorKind(err); got != tc.want {
					t.Errorf("kind = %v, want %v (%v)", got, tc.want, err)
				}
				if n := len(s.Logins()); n != 1 || time.Since(start) > 15*time.Second {
					t.Errorf("logins = %d after %s, want 1", n, time.Since(start))
				}
				if all := err.Error() + log.String(); strings.Contains(all, password) {
					t.Errorf("the password occurs in %s", all)
				}
			})
		}
	})

	t.Run("retries while the server starts", func(t *testing.T) {
		for _, number := range []int32{18451, 18401, 40613, 17142} {
			tries := 0
			s := start(t, tdsOptions{Login: func(tdsLogin) []tdsError {
				if tries++; tries > 1 {
					return nil
				}
				return []tdsError{
					{Number: number, Message: "not now"},
					{Number: 18456, Message: "Login failed."},
				}
			}})
			if _, log := open(t, s, xdb.Options{}); !strings.Contains(log.String(),
				"database not reachable yet") {
				t.Errorf("%d: the log contains no retry", number)
			}
		}
	})
}

func TestOpen_TLS(t *testing.T) {
	cert, other := authority(t), authority(t)
	for _, tc := range []struct {
		name       string
		mode, file string
		force      bool
		want       tdsLogin
		wantErr    string
	}{
		{name: "default", mode: "", want: tdsLogin{Encrypted: true}},
		{
			name: "disable encrypts the login",
			mode: driver.TLSDisable, want: tdsLogin{Encrypted: true},
		},
		{
			name:  "disable with a server that requires encryption",
			force: true, want: tdsLogin{Encrypted: true, Session: true},
		},
		{name: "require", mode: driver.TLSRequire, want: tdsLogin{Encrypted: true, Session: true}},
		{
			name: "verify-full", mode: driver.TLSVerifyFull, file: cert.file(t),
			want: tdsLogin{Encrypted: true, Session: true},
		},
		{
			name: "verify-full with the system's certificates",
			mode: driver.TLSVerifyFull, wantErr: "certificate signed by unknown authority",
		},
		{
			name: "verify-full with another CA",
			mode: driver.TLSVerifyFull, file: other.file(t), wantErr: "certificate",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := withTLS(cert.tls)
			o.Force = tc.force
			s := start(t, o)
			parts := partsOf(s)
			parts.TLS, parts.TLSCA = tc.mode, tc.file
			if tc.wantErr != "" {
				ctx, log := background(t)
				_, err := xdb.Open(ctx, xdb.Options{Driver: sqlserver.Name, Parts: parts})
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) ||
					strings.Contains(err.Error(), password) {
					t.Errorf("Open = %v, want %q", err, tc.wantErr)
				}
				if len(s.Logins()) > 0 || strings.Contains(log.String(), "not reachable yet") {
					t.Error("the password was sent, or Open retried")
				}
				return
			}
			db, _ := open(t, s, xdb.Options{Parts: parts})
			if err := db.Exec("UPDATE t SET x = ?",
				strings.Repeat("long", 5000)).Error; err != nil {
				t.Error(err)
			}
			tc.want.User, tc.want.Password = "app", password
			tc.want.Database, tc.want.App = "app", "plinth"
			if got := s.Logins(); len(got) != 1 || got[0] != tc.want {
				t.Errorf("logins = %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestOpen_TLSErrors(t *testing.T) {
	t.Run("verify-full rejects another host", func(t *testing.T) {
		cert := authority(t)
		s := start(t, withTLS(cert.tls))
		parts := partsOf(s)
		parts.Host, parts.TLS, parts.TLSCA = "localhost", driver.TLSVerifyFull, cert.file(t)
		ctx, _ := background(t)
		_, err := xdb.Open(ctx,
			xdb.Options{Driver: sqlserver.Name, Parts: parts, ConnectTimeout: -1})
		if err == nil || !strings.Contains(err.Error(), "certificate") || len(s.Logins()) > 0 {
			t.Errorf("Open = %v, want a certificate error without a login", err)
		}
	})

	t.Run("require does not fall back to plain text", func(t *testing.T) {
		s := start(t, tdsOptions{})
		parts := partsOf(s)
		parts.TLS = driver.TLSRequire
		ctx, _ := background(t)
		_, err := xdb.Open(ctx,
			xdb.Options{Driver: sqlserver.Name, Parts: parts, ConnectTimeout: -1})
		if err == nil || !strings.Contains(err.Error(), "server does not support encryption") ||
			len(s.Logins()) > 0 {
			t.Errorf("Open = %v, logins = %v; want an error without a login", err, s.Logins())
		}
	})
}

func TestOpen_DSN(t *testing.T) {
	s := start(t, tdsOptions{})
	dsn := "server=127.0.0.1;port=" + portOf(s) +
		`;user id=sa;password="a;b""c";database=own;encrypt=disable;app name=mine`
	ctx, log := background(t)
	db, err := xdb.Open(ctx, xdb.Options{Driver: sqlserver.Name, DSN: xlog.Secret(dsn)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = xdb.Close(db) }()
	want := tdsLogin{User: "sa", Password: `a;b"c`, Database: "own", App: "mine"}
	if got := s.Logins(); len(got) != 1 || got[0] != want {
		t.Errorf("logins = %+v, want %+v", got, want)
	}
	if !strings.Contains(log.String(), "127.0.0.1:"+portOf(s)+"/own") {
		t.Errorf("the log does not contain the address: %s", log)
	}
	_, err = xdb.Open(ctx, xdb.Options{
		Driver: sqlserver.Name,
		DSN:    "sqlserver://sa:" + xlog.Secret(password) + "@x:port?database=d",
	})
	if err == nil || strings.Contains(err.Error(), password) {
		t.Errorf("Open = %v, want an error without the password", err)
	}
}

// The library reports a broken handshake and an unknown instance only as text.
func TestConnector_RetryableErrors(t *testing.T) {
	s := start(t, tdsOptions{TLS: &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			return nil, errors.Join(errors.New("closed"), hello.Conn.Close())
		},
	}})
	instance := partsOf(s)
	instance.Host, instance.Port = `127.0.0.1\none`, 0
	for name, parts := range map[string]driver.Config{
		"handshake": partsOf(s),
		"instance":  instance,
	} {
		ctx, log := background(t)
		_, err := xdb.Open(ctx, xdb.Options{
			Driver: sqlserver.Name, Parts: parts, ConnectTimeout: 400 * time.Millisecond,
		})
		if got := driver.KindOf(err); got != driver.Connection {
			t.Errorf("%s: kind = %v, want %v (%v)", name, got, driver.Connection, err)
		}
		if !strings.Contains(log.String(), "database not reachable yet") {
			t.Errorf("%s: Open did not retry: %v", name, err)
		}
	}
}
