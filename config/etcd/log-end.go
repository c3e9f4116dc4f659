package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
)

// printLogEnd prints the index of the last entry in the write-ahead log of a data directory, and the index of
// the last entry that its database contains. A log that ends before its database has lost entries: etcd then
// applies no write until the log is longer again, and waits without an error. No process may have the
// database open for writing.
func printLogEnd(directory string) error {
	log, err := lastLogIndex(filepath.Join(directory, "member", "wal"))
	if err != nil {
		return err
	}
	database, err := consistentIndex(filepath.Join(directory, "member", "snap", "db"))
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]uint64{"log": log, "database": database})
}

// lastLogIndex ignores a last record that is torn, as etcd does.
func lastLogIndex(directory string) (uint64, error) {
	lg := zap.NewNop()
	snapshots, err := wal.ValidSnapshotEntries(lg, directory)
	if err != nil {
		return 0, err
	}
	if len(snapshots) == 0 {
		return 0, errors.New("the write-ahead log has no beginning")
	}
	from := snapshots[len(snapshots)-1]
	w, err := wal.OpenForRead(lg, directory, from)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	_, _, entries, err := w.ReadAll()
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	if len(entries) == 0 {
		return from.GetIndex(), nil
	}
	return entries[len(entries)-1].GetIndex(), nil
}

func consistentIndex(database string) (index uint64, err error) {
	db, err := bbolt.Open(database, 0o400, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.View(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(schema.Meta.Name())
		if meta == nil {
			return errors.New("the database is none of etcd")
		}
		if value := meta.Get(schema.MetaConsistentIndexKeyName); len(value) == 8 {
			index = binary.BigEndian.Uint64(value)
		}
		return nil
	})
	return index, err
}
