// Verifies an exported log, receipts and cosignatures with Go's own libraries and none of Exhibit's code.
//
//	tlog-verify log DIR VKEY [CHECKPOINT...]     every bundle and tile of DIR; older checkpoints are consistent with it
//	tlog-verify proof FILE VKEY LEAF             a tlog-proof over the bytes of LEAF
//	tlog-verify cosigned FILE VKEY WITNESS...    a checkpoint that each witness has cosigned
//	tlog-verify claim FILE VKEY SHOWN...         the promise in a saved answer, by exported logs and receipts; exit
//	                                             code 10: the log broke it, 11: not yet covered
//	tlog-verify attestation FILE VKEY FILE...    a DSSE envelope with an in-toto statement about these files; this verb
//	                                             uses the libraries of DSSE and in-toto beside Go's
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const height = 8

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		switch {
		case errors.Is(err, errBroken):
			os.Exit(10)
		case errors.Is(err, errPending):
			os.Exit(11)
		}
		os.Exit(1)
	}
	fmt.Println("ok")
}

func run(args []string) error {
	if len(args) < 3 {
		return errors.New("usage: tlog-verify log|proof|cosigned|claim|attestation FILE VKEY ...")
	}
	switch args[0] {
	case "log":
		return verifyLog(args[1], args[2], args[3:])
	case "proof":
		return verifyProof(args[1], args[2], args[3])
	case "cosigned":
		return verifyCosigned(args[1], args[2], args[3:])
	case "claim":
		return verifyClaim(args[1], args[2], args[3:])
	case "attestation":
		return verifyAttestation(args[1], args[2], args[3:])
	}
	return errors.New("unknown verb")
}

// open verifies a checkpoint and returns its tree.
func open(data []byte, verifiers ...note.Verifier) (tlog.Tree, error) {
	n, err := note.Open(data, note.VerifierList(verifiers...))
	if err != nil {
		return tlog.Tree{}, err
	}
	if len(n.Sigs) != len(verifiers) {
		return tlog.Tree{}, fmt.Errorf("%d of %d signatures", len(n.Sigs), len(verifiers))
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) != 4 || lines[0] != verifiers[0].Name() {
		return tlog.Tree{}, errors.New("not a checkpoint of this log")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

func openFile(path, vkey string) (tlog.Tree, error) {
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return tlog.Tree{}, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return tlog.Tree{}, err
	}
	return open(data, verifier)
}

// folder reads tiles from a tlog-tiles folder, whose paths lack the height.
type folder string

func (f folder) Height() int                                { return height }
func (f folder) SaveTiles(tiles []tlog.Tile, data [][]byte) {}

func (f folder) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, t := range tiles {
		data, err := os.ReadFile(f.path(t))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func (f folder) path(t tlog.Tile) string {
	path := strings.Replace(t.Path(), fmt.Sprintf("tile/%d/", height), "tile/", 1)
	return filepath.Join(string(f), strings.Replace(path, "tile/data/", "tile/entries/", 1))
}

func verifyLog(dir, vkey string, older []string) error {
	tree, err := openFile(filepath.Join(dir, "checkpoint"), vkey)
	if err != nil {
		return err
	}
	if tree.N == 0 {
		if tree.Hash != tlog.Hash(sha256.Sum256(nil)) {
			return errors.New("the empty tree has another root")
		}
		return nil
	}
	reader := tlog.TileHashReader(tree, folder(dir))
	if root, err := tlog.TreeHash(tree.N, reader); err != nil || root != tree.Hash {
		return fmt.Errorf("root: %v", err)
	}
	if err := verifyTiles(dir, tree, reader); err != nil {
		return err
	}
	for _, path := range older {
		old, err := openFile(path, vkey)
		if err != nil {
			return err
		}
		if old.N == 0 {
			continue
		}
		proof, err := tlog.ProveTree(tree.N, old.N, reader)
		if err != nil {
			return err
		}
		if err := tlog.CheckTree(proof, tree.N, tree.Hash, old.N, old.Hash); err != nil {
			return fmt.Errorf("consistency with %d: %w", old.N, err)
		}
	}
	return nil
}

// verifyTiles compares every entry with its leaf hash, and proves one entry of each bundle.
func verifyTiles(dir string, tree tlog.Tree, reader tlog.HashReader) error {
	for _, t := range tlog.NewTiles(height, 0, tree.N) {
		data, err := os.ReadFile(folder(dir).path(t))
		if err != nil {
			return err
		}
		want, err := tlog.ReadTileData(t, reader)
		if err != nil || !bytes.Equal(want, data) {
			return fmt.Errorf("%s: %v", t.Path(), err)
		}
		if t.L == 0 {
			if err := verifyBundle(dir, t, data, tree, reader); err != nil {
				return err
			}
		}
	}
	return nil
}

func verifyBundle(dir string, t tlog.Tile, hashes []byte, tree tlog.Tree, reader tlog.HashReader) error {
	t.L = -1
	bundle, err := os.ReadFile(folder(dir).path(t))
	if err != nil {
		return err
	}
	for i := 0; i < t.W; i++ {
		if len(bundle) < 2 || len(bundle) < 2+int(binary.BigEndian.Uint16(bundle)) {
			return fmt.Errorf("%s is cut off", t.Path())
		}
		end := 2 + int(binary.BigEndian.Uint16(bundle))
		leaf := tlog.RecordHash(bundle[2:end])
		bundle = bundle[end:]
		if !bytes.Equal(leaf[:], hashes[i*tlog.HashSize:(i+1)*tlog.HashSize]) {
			return fmt.Errorf("%s: entry %d", t.Path(), i)
		}
		if i == t.W-1 {
			index := t.N<<height + int64(i)
			proof, err := tlog.ProveRecord(tree.N, index, reader)
			if err != nil {
				return err
			}
			if err := tlog.CheckRecord(proof, tree.N, tree.Hash, index, leaf); err != nil {
				return err
			}
		}
	}
	if len(bundle) != 0 {
		return fmt.Errorf("%s goes on", t.Path())
	}
	return nil
}

func verifyProof(path, vkey, leafPath string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	leaf, err := os.ReadFile(leafPath)
	if err != nil {
		return err
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return err
	}
	return proves(text, leaf, verifier)
}

// proves checks that a tlog-proof leads from the leaf to a checkpoint of the log.
func proves(text, leaf []byte, verifier note.Verifier) error {
	head, checkpoint, ok := bytes.Cut(text, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	if !ok || len(lines) < 3 || lines[0] != "c2sp.org/tlog-proof@v1" {
		return errors.New("not a tlog-proof")
	}
	if strings.HasPrefix(lines[1], "extra ") {
		lines = lines[1:]
	}
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[1], "index "), 10, 64)
	if err != nil {
		return err
	}
	var proof tlog.RecordProof
	for _, line := range lines[2:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return err
		}
		proof = append(proof, hash)
	}
	tree, err := open(checkpoint, verifier)
	if err != nil {
		return err
	}
	return tlog.CheckRecord(proof, tree.N, tree.Hash, index, tlog.RecordHash(leaf))
}

// witness verifies cosignature/v1 lines (c2sp.org/tlog-cosignature); the library knows plain notes only.
type witness struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func newWitness(vkey string) (*witness, error) {
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 {
		return nil, errors.New("not a key")
	}
	key, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(key) != 33 || key[0] != 4 {
		return nil, errors.New("not a witness's key")
	}
	sum := sha256.Sum256(append([]byte(parts[0]+"\n"), key...))
	return &witness{parts[0], binary.BigEndian.Uint32(sum[:]), key[1:]}, nil
}

func (w *witness) Name() string    { return w.name }
func (w *witness) KeyHash() uint32 { return w.hash }

func (w *witness) Verify(msg, sig []byte) bool {
	if len(sig) != 8+ed25519.SignatureSize {
		return false
	}
	signed := fmt.Sprintf("cosignature/v1\ntime %d\n%s", binary.BigEndian.Uint64(sig), msg)
	return ed25519.Verify(w.key, []byte(signed), sig[8:])
}

func verifyCosigned(path, vkey string, witnesses []string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	log, err := note.NewVerifier(vkey)
	if err != nil {
		return err
	}
	verifiers := []note.Verifier{log}
	for _, each := range witnesses {
		w, err := newWitness(each)
		if err != nil {
			return err
		}
		verifiers = append(verifiers, w)
	}
	_, err = open(data, verifiers...)
	return err
}
