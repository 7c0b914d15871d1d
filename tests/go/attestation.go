package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"golang.org/x/mod/sumdb/note"
	"google.golang.org/protobuf/encoding/protojson"
)

// logKey is a log's Ed25519 key as the DSSE library takes it.
type logKey struct {
	id  string
	key ed25519.PublicKey
}

func (k logKey) KeyID() (string, error)   { return k.id, nil }
func (k logKey) Public() crypto.PublicKey { return k.key }
func (k logKey) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(k.key, data, sig) {
		return errors.New("not signed by this key")
	}
	return nil
}

// verifyAttestation opens a DSSE envelope and its in-toto statement with their own libraries, finds each file among the
// subjects by its digest, and proves the receipt that the statement carries.
func verifyAttestation(path, vkey string, files []string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	log, err := note.NewVerifier(vkey)
	if err != nil {
		return err
	}
	public, err := base64.StdEncoding.DecodeString(vkey[strings.LastIndex(vkey, "+")+1:])
	if err != nil || len(public) != 1+ed25519.PublicKeySize || public[0] != 1 {
		return errors.New("not an Ed25519 key of a log")
	}
	var envelope dsse.Envelope
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&envelope); err != nil {
		return err
	}
	verifier, err := dsse.NewEnvelopeVerifier(logKey{fmt.Sprintf("%08x", log.KeyHash()), public[1:]})
	if err != nil {
		return err
	}
	_, payload, err := verifier.VerifyAndDecode(context.Background(), &envelope)
	if err != nil {
		return err
	}
	if envelope.PayloadType != "application/vnd.in-toto+json" {
		return errors.New("not an in-toto payload")
	}
	var statement intoto.Statement
	if err := protojson.Unmarshal(payload, &statement); err != nil {
		return err
	}
	if err := statement.Validate(); err != nil {
		return err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		digest := fmt.Sprintf("%x", sha256.Sum256(content))
		found := false
		for _, subject := range statement.Subject {
			found = found || subject.Digest["sha256"] == digest
		}
		if !found {
			return fmt.Errorf("%s is none of the subjects", file)
		}
	}
	receipt := statement.Predicate.AsMap()["receipt"]
	text, ok := receipt.(string)
	if !ok || statement.PredicateType != "urn:exhibit:entry/1" {
		return errors.New("not a statement about an entry")
	}
	leaf, err := leafOf([]byte(text))
	if err != nil {
		return err
	}
	return proves([]byte(text), leaf, log)
}
