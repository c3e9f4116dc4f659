// The kustomize inside the one file: the library that kubectl 1.32 contains, with its versions. It builds one
// kustomization, without plugins, containers and Helm. src/cli/kustomize runs it.
//
// A failure that the library reports ends with status 1, and its message is on standard output. Warnings are
// on standard error. Any other end is a crash.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

var (
	unrestricted = flag.Bool("unrestricted", false, "load files from outside the root")
	legacyOrder  = flag.Bool("legacy-order", false, "sort as earlier versions did, and as -k does")
	givenOrder   = flag.Bool("given-order", false, "keep the order of the resources")
	managedBy    = flag.Bool("managed-by", false, "add the label app.kubernetes.io/managed-by")
	output       = flag.String("output", "", "file, or existing directory, to write to")
	memory       = flag.Uint64("memory", 0, "maximum size of the address space in bytes")
	limit        = flag.Duration("limit", 0, "maximum time")
)

func main() {
	flag.Parse()
	if err := run(flag.Arg(0)); err != nil {
		fmt.Print(err)
		os.Exit(1)
	}
}

func run(directory string) error {
	if *memory > 0 {
		bound := syscall.Rlimit{Cur: *memory, Max: *memory}
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &bound); err != nil {
			return err
		}
	}
	if *limit > 0 {
		time.AfterFunc(*limit, func() {
			fmt.Printf("building %s took longer than %s", directory, *limit)
			os.Exit(1)
		})
	}
	files := filesys.MakeFsOnDisk()
	built, err := krusty.MakeKustomizer(options()).Run(files, directory)
	if err != nil {
		return err
	}
	if *output != "" && files.IsDir(*output) {
		return writeEach(files, built)
	}
	text, err := built.AsYaml()
	if err != nil {
		return err
	}
	if *output != "" {
		return files.WriteFile(*output, text)
	}
	_, err = os.Stdout.Write(text)
	return err
}

func options() *krusty.Options {
	chosen := krusty.MakeDefaultOptions()
	// The kustomization's own order applies, or the legacy order if it has none.
	chosen.Reorder = krusty.ReorderOptionUnspecified
	if *unrestricted {
		chosen.LoadRestrictions = types.LoadRestrictionsNone
	}
	if *legacyOrder {
		chosen.Reorder = krusty.ReorderOptionLegacy
	}
	if *givenOrder {
		chosen.Reorder = krusty.ReorderOptionNone
	}
	chosen.AddManagedbyLabel = *managedBy
	return chosen
}

// writeEach writes each object to a file of its own. If there are several namespaces, the name of a file
// begins with the namespace of its object.
func writeEach(files filesys.FileSystem, built resmap.ResMap) error {
	spaces := built.GroupedByCurrentNamespace()
	for namespace, objects := range spaces {
		prefix := ""
		if len(spaces) > 1 {
			prefix = strings.ToLower(namespace) + "_"
		}
		for _, object := range objects {
			if err := writeObject(files, prefix, object); err != nil {
				return err
			}
		}
	}
	for _, object := range built.ClusterScoped() {
		if err := writeObject(files, "", object); err != nil {
			return err
		}
	}
	return nil
}

func writeObject(files filesys.FileSystem, prefix string, object *resource.Resource) error {
	kind := object.GetGvk().StringWoEmptyField()
	name := prefix + strings.ToLower(kind) + "_" + strings.ToLower(object.GetName()) + ".yaml"
	if name != filepath.Base(name) {
		return fmt.Errorf("%s is no name of a file; the object %s needs another name", name, object.GetName())
	}
	content, err := object.Map()
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(content)
	if err != nil {
		return err
	}
	return files.WriteFile(filepath.Join(*output, name), text)
}
