// The etcd inside the one file: the unchanged server, with the commands that take over the data of an earlier
// etcd (src/storage/take-over.ts) and restore backups (src/backup). etcdutl has these commands too, but is
// another program of 20 MB.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "storage-version":
		err = printStorageVersion(os.Args[2])
	case len(os.Args) == 7 && os.Args[1] == "restore":
		err = restore(os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6], 0)
	case len(os.Args) == 7 && os.Args[1] == "restore-backup":
		err = restore(os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6], bump)
	case len(os.Args) == 3 && os.Args[1] == "database-status":
		err = printDatabaseStatus(os.Args[2])
	default:
		etcdmain.Main(os.Args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// printStorageVersion prints the etcd version of a database, such as 3.7.0: an empty line for a version
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

// printDatabaseStatus checks every page of a database, and prints its revision and its number of keys.
func printDatabaseStatus(database string) error {
	status, err := snapshot.NewV3(zap.NewNop()).Status(database)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(status)
}

// bump is added to the revision of a restored backup: more than a cluster can have written since. Clients that
// have seen writes after the backup would otherwise take later writes for those that they know.
const bump = 1_000_000_000

// restore creates a data directory of one member from a database, with its revisions. With more than 0 added,
// the history before is marked as compacted, so that every watch begins anew.
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
