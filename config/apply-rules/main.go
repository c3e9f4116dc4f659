// The rules of server-side apply in structured-merge-diff, for a test: reads lists of operations as JSON and
// writes, for each operation, the resulting object, its managers or the error
// (test/conformance/apply-rules.test.ts).
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

const schema = `types:
- name: root
  map:
    fields:
    - name: a
      type: {scalar: string}
    - name: "n"
      type: {scalar: numeric}
    - name: s
      type: {namedType: inner}
    - name: m
      type:
        map: {elementType: {scalar: string}}
    - name: mm
      type:
        map: {elementType: {namedType: inner}}
    - name: am
      type:
        map: {elementType: {scalar: string}, elementRelationship: atomic}
    - name: al
      type:
        list: {elementType: {scalar: string}, elementRelationship: atomic}
    - name: set
      type:
        list: {elementType: {scalar: string}, elementRelationship: associative}
    - name: items
      type:
        list: {elementType: {namedType: item}, elementRelationship: associative, keys: [name]}
- name: inner
  map:
    fields:
    - name: x
      type: {scalar: string}
    - name: "y"
      type: {scalar: string}
    - name: set
      type:
        list: {elementType: {scalar: string}, elementRelationship: associative}
- name: item
  map:
    fields:
    - name: name
      type: {scalar: string}
    - name: v
      type: {scalar: string}
    - name: s
      type: {namedType: inner}
    - name: m
      type:
        map: {elementType: {scalar: string}}
    - name: ports
      type:
        list: {elementType: {namedType: port}, elementRelationship: associative, keys: [port, proto]}
- name: port
  map:
    fields:
    - name: port
      type: {scalar: numeric}
    - name: proto
      type: {scalar: string}
      default: TCP
    - name: w
      type: {scalar: string}
`

type conv struct{}

func (conv) Convert(o *typed.TypedValue, v fieldpath.APIVersion) (*typed.TypedValue, error) {
	return o, nil
}
func (conv) IsMissingVersionError(error) bool { return false }

type op struct {
	Op      string      `json:"op"`
	Manager string      `json:"manager"`
	Object  interface{} `json:"object"`
	Force   bool        `json:"force"`
}
type res struct {
	Object   interface{}                `json:"object"`
	Error    string                     `json:"error,omitempty"`
	Managers map[string]json.RawMessage `json:"managers"`
}

func main() {
	p, err := typed.NewParser(typed.YAMLObject(schema))
	if err != nil {
		panic(err)
	}
	t := p.Type("root")
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	dec := json.NewDecoder(in)
	for {
		var ops []op
		if err := dec.Decode(&ops); err != nil {
			return
		}
		live, _ := t.FromUnstructured(map[string]interface{}{})
		managers := fieldpath.ManagedFields{}
		u := (&merge.UpdaterBuilder{Converter: conv{}}).BuildUpdater()
		results := []res{}
		for _, o := range ops {
			r := res{Managers: map[string]json.RawMessage{}}
			func() {
				defer func() {
					if e := recover(); e != nil {
						r.Error = fmt.Sprint("PANIC ", e)
					}
				}()
				var opts []typed.ValidationOptions
				if o.Op == "update" {
					opts = append(opts, typed.AllowDuplicates)
				}
				obj, err := t.FromUnstructured(o.Object, opts...)
				if err != nil {
					r.Error = "typed: " + err.Error()
					return
				}
				if o.Op == "update" {
					n, m, err := u.Update(live, obj, "v1", managers.Copy(), o.Manager)
					if err != nil {
						r.Error = err.Error()
						return
					}
					live, managers = n, m
				} else {
					n, m, err := u.Apply(live, obj, "v1", managers.Copy(), o.Manager, o.Force)
					if err != nil {
						if cs, ok := err.(merge.Conflicts); ok {
							l := []string{}
							for _, c := range cs {
								l = append(l, c.Manager+" "+c.Path.String())
							}
							sort.Strings(l)
							r.Error = "conflicts " + fmt.Sprint(l)
						} else {
							r.Error = err.Error()
						}
						return
					}
					if n != nil {
						live = n
					}
					managers = m
				}
			}()
			r.Object = live.AsValue().Unstructured()
			for k, v := range managers {
				b, _ := v.Set().ToJSON()
				r.Managers[k] = b
			}
			results = append(results, r)
		}
		b, _ := json.Marshal(results)
		out.Write(b)
		out.WriteByte('\n')
		out.Flush()
	}
}
