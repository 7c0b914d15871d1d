package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// errPending and errBroken have exit codes of their own.
var (
	errPending = errors.New("not yet covered")
	errBroken  = errors.New("broken promise")
)

// promise is the member `promise` of a saved answer (exhibit.promise/1, docs/formats.md).
type promise struct {
	V            string `json:"v"`
	EntryID      string `json:"entry_id"`
	LeafHash     string `json:"leaf_hash"`
	AnswerDigest string `json:"answer_digest"`
	Replica      string `json:"replica"`
	Rseq         int64  `json:"rseq"`
	Time         string `json:"time"`
	MergeDelayS  int64  `json:"merge_delay_s"`
	Key          string `json:"key"`
	Signature    string `json:"signature"`
}

// leafFields are those of a leaf that a promise speaks of.
type leafFields struct {
	ID      string `json:"id"`
	Replica string `json:"replica"`
	Rseq    int64  `json:"rseq"`
	T       int64  `json:"t"`
}

// verifyClaim holds the log to the promise in a saved answer, by exported logs (folders) and receipts (files).
func verifyClaim(path, vkey string, shown []string) error {
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return err
	}
	p, due, err := openPromise(path, verifier)
	if err != nil {
		return err
	}
	verdict := errPending
	for _, each := range shown {
		var found error
		if info, err := os.Stat(each); err != nil {
			return err
		} else if info.IsDir() {
			found, err = claimByLog(p, due, each, vkey)
			if err != nil {
				return err
			}
		} else if found, err = claimByReceipt(p, due, each, verifier); err != nil {
			return err
		}
		if found == nil {
			return nil
		}
		if errors.Is(found, errBroken) {
			verdict = found
		}
	}
	return verdict
}

// openPromise reads a saved answer and checks that the log's key signed its promise, and signed it for this answer.
func openPromise(path string, verifier note.Verifier) (p promise, due int64, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return p, 0, err
	}
	var body map[string]any
	if err := json.Unmarshal(data, &body); err != nil {
		return p, 0, err
	}
	signed, err := json.Marshal(body["promise"])
	if err != nil {
		return p, 0, err
	}
	decoder := json.NewDecoder(bytes.NewReader(signed))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return p, 0, err
	}
	if p.V != "exhibit.promise/1" || p.Key != fmt.Sprintf("%s+%08x", verifier.Name(), verifier.KeyHash()) {
		return p, 0, errors.New("not a promise of this key")
	}
	for _, field := range []string{p.EntryID, p.LeafHash, p.AnswerDigest, p.Replica, p.Time} {
		if field == "" || strings.Contains(field, "\n") {
			return p, 0, errors.New("a member of the promise is not in its form")
		}
	}
	signature, err := base64.StdEncoding.DecodeString(p.Signature)
	if err != nil {
		return p, 0, err
	}
	text := fmt.Sprintf("%s\n%s\n%s\n%s\n%s\n%s\n%d\n%s\n%d\n", p.V, verifier.Name(), p.EntryID, p.LeafHash,
		p.AnswerDigest, p.Replica, p.Rseq, p.Time, p.MergeDelayS)
	if !verifier.Verify([]byte(text), signature) {
		return p, 0, errors.New("the log's key did not sign this promise")
	}
	for _, beside := range []string{"promise", "timings_ms", "took_ms"} {
		delete(body, beside)
		if trace, ok := body["trace"].(map[string]any); ok {
			delete(trace, beside)
		}
	}
	var canonical bytes.Buffer
	writeCanonical(&canonical, body)
	if fmt.Sprintf("sha256:%x", sha256.Sum256(canonical.Bytes())) != p.AnswerDigest {
		return p, 0, errors.New("the promise was made for another answer")
	}
	made, err := time.Parse("2006-01-02T15:04:05.000Z", p.Time)
	return p, made.UnixMilli() + p.MergeDelayS*1000, err
}

// claimByLog verifies an exported log and looks for the promised leaf in all of it.
func claimByLog(p promise, due int64, dir, vkey string) (verdict, err error) {
	if err := verifyLog(dir, vkey, nil); err != nil {
		return nil, err
	}
	tree, err := openFile(filepath.Join(dir, "checkpoint"), vkey)
	if err != nil {
		return nil, err
	}
	verdict = errPending
	for _, t := range tlog.NewTiles(height, 0, tree.N) {
		if t.L != 0 {
			continue
		}
		t.L = -1
		bundle, err := os.ReadFile(folder(dir).path(t))
		if err != nil {
			return nil, err
		}
		for len(bundle) > 0 {
			end := 2 + int(binary.BigEndian.Uint16(bundle))
			found := judge(p, due, bundle[2:end], true)
			if found == nil {
				return nil, nil
			}
			if errors.Is(found, errBroken) && !errors.Is(verdict, errBroken) {
				verdict = found
			}
			bundle = bundle[end:]
		}
	}
	return verdict, nil
}

// claimByReceipt verifies a receipt, of whichever entry, and compares its leaf with the promised one.
func claimByReceipt(p promise, due int64, path string, verifier note.Verifier) (verdict, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	leaf, err := leafOf(text)
	if err != nil {
		return nil, err
	}
	if err := proves(text, leaf, verifier); err != nil {
		return nil, err
	}
	return judge(p, due, leaf, false), nil
}

// leafOf reads the leaf that a receipt speaks of.
func leafOf(receipt []byte) ([]byte, error) {
	_, rest, _ := bytes.Cut(receipt, []byte("\nextra "))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	data, err := base64.StdEncoding.DecodeString(string(line))
	if err != nil {
		return nil, err
	}
	var extra struct {
		Leaf []byte `json:"leaf"`
	}
	if err := json.Unmarshal(data, &extra); err != nil {
		return nil, err
	}
	return extra.Leaf, nil
}

// judge says what a leaf of the log means for the promise; whole: every leaf of the tree is looked at.
func judge(p promise, due int64, data []byte, whole bool) error {
	var leaf leafFields
	if err := json.Unmarshal(data, &leaf); err != nil {
		return errPending
	}
	hash := tlog.RecordHash(data)
	if hex.EncodeToString(hash[:]) == p.LeafHash {
		if leaf.ID != p.EntryID || leaf.Replica != p.Replica || leaf.Rseq != p.Rseq ||
			time.UnixMilli(leaf.T).UTC().Format("2006-01-02T15:04:05.000Z") != p.Time {
			return fmt.Errorf("%w: fields", errBroken)
		}
		return nil
	}
	switch {
	case leaf.ID == p.EntryID:
		return fmt.Errorf("%w: entry", errBroken)
	case leaf.Replica == p.Replica && (leaf.Rseq == p.Rseq || whole && leaf.Rseq > p.Rseq):
		return fmt.Errorf("%w: sequence", errBroken)
	case whole && leaf.T > due:
		return fmt.Errorf("%w: time", errBroken)
	}
	return errPending
}

// writeCanonical writes a decoded JSON value as RFC 8785 does.
func writeCanonical(out *bytes.Buffer, value any) {
	switch value := value.(type) {
	case map[string]any:
		names := make([]string, 0, len(value))
		for name := range value {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		})
		for i, name := range names {
			out.WriteByte("{,"[min(i, 1)])
			writeText(out, name)
			out.WriteByte(':')
			writeCanonical(out, value[name])
		}
		if len(names) == 0 {
			out.WriteByte('{')
		}
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for i, each := range value {
			if i > 0 {
				out.WriteByte(',')
			}
			writeCanonical(out, each)
		}
		out.WriteByte(']')
	case string:
		writeText(out, value)
	case float64:
		out.WriteString(number(value))
	default:
		fmt.Fprintf(out, "%v", map[any]string{nil: "null", true: "true", false: "false"}[value])
	}
}

func writeText(out *bytes.Buffer, text string) {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	out.WriteByte('"')
	for _, char := range text {
		if escaped, ok := short[char]; ok {
			out.WriteString(escaped)
		} else if char < 0x20 {
			fmt.Fprintf(out, `\u%04x`, char)
		} else {
			out.WriteRune(char)
		}
	}
	out.WriteByte('"')
}

// number is ECMAScript's Number.prototype.toString.
func number(value float64) string {
	if value == 0 {
		return "0"
	}
	if magnitude := max(value, -value); magnitude < 1e-6 || magnitude >= 1e21 {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(value, 'e', -1, 64), "e")
		return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}
