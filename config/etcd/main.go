// The etcd that is embedded in the minik8s executable: the unchanged server, and commands that take over the
// data of an earlier etcd (src/storage/take-over.ts) and restore backups (src/backup). etcdutl has these
// commands too, but would add a second program of 20 MB.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"
	"google.golang.org/protobuf/proto"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "storage-version":
		err = printStorageVersion(os.Args[2])
	case len(os.Args) == 7 && os.Args[1] == "restore":
		err = restore(os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6], 0)
	case len(os.Args) == 8 && os.Args[1] == "restore-backup":
		err = restoreBackup(os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6], os.Args[7])
	case len(os.Args) == 3 && os.Args[1] == "database-status":
		err = printDatabaseStatus(os.Args[2])
	case len(os.Args) == 3 && os.Args[1] == "log-end":
		err = printLogEnd(os.Args[2])
	default:
		etcdmain.Main(os.Args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// printStorageVersion prints the etcd version of a database, such as 3.7.0, or an empty line for a version
// before 3.6. No process may have the database open for writing.
func printStorageVersion(database string) error {
	db, err := bbolt.Open(database, 0o400, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.View(func(tx *bbolt.Tx) error {
		if tx.Bucket(schema.Meta.Name()) == nil {
			return fmt.Errorf("%s is no database of etcd", database)
		}
		if version := schema.ReadStorageVersionFromSnapshot(tx); version != nil {
			fmt.Println(version)
		} else {
			fmt.Println()
		}
		return nil
	})
}

// printDatabaseStatus checks every page of a database, and prints its revision, its number of keys and its
// storage version.
func printDatabaseStatus(database string) error {
	status, err := snapshot.NewV3(zap.NewNop()).Status(database)
	if err != nil {
		return err
	}
	keys, err := countKeys(database)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"revision": status.Revision, "keys": keys, "version": status.Version,
	})
}

// countKeys returns the number of keys that exist at the latest revision. Records are sorted by revision. A
// record's key is its revision (17 bytes); the key of a deletion's record has a mark after the revision. A
// restore that raises the revisions writes a record with an empty key.
func countKeys(database string) (int, error) {
	db, err := bbolt.Open(database, 0o400, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	const revisionLength = 17
	exists := map[string]bool{}
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(schema.Key.Name()).ForEach(func(revision, value []byte) error {
			var record mvccpb.KeyValue
			if err := proto.Unmarshal(value, &record); err != nil {
				return err
			}
			if len(revision) > revisionLength {
				delete(exists, string(record.Key))
			} else if len(record.Key) > 0 {
				exists[string(record.Key)] = true
			}
			return nil
		})
	})
	return len(exists), err
}

// restoreBackup restores a backup and raises its revisions so that new ones are above `least`. Otherwise new
// writes would have revisions that clients have already seen for the writes that were lost.
func restoreBackup(database, directory, name, peer, token, least string) error {
	wanted, err := strconv.ParseInt(least, 10, 64)
	if err != nil {
		return err
	}
	status, err := snapshot.NewV3(zap.NewNop()).Status(database)
	if err != nil {
		return err
	}
	return restore(database, directory, name, peer, token, uint64(max(1, wanted-status.Revision)))
}

// restore creates a data directory of one member from a database, with its revisions. If `added` is above 0,
// the revisions are raised by it and the earlier history is marked as compacted, so that every watch starts
// again.
func restore(database, directory, name, peer, token string, added uint64) error {
	return snapshot.NewV3(zap.NewNop()).Restore(snapshot.RestoreConfig{
		SnapshotPath:        database,
		OutputDataDir:       directory,
		Name:                name,
		PeerURLs:            []string{peer},
		InitialCluster:      name + "=" + peer,
		InitialClusterToken: token,
		// A database that a server has closed has no checksum at its end, unlike a snapshot from a connection.
		SkipHashCheck: true,
		RevisionBump:  added,
		MarkCompacted: added > 0,
	})
}
