import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readGo } from '../../../config/kubernetes-types/go-source.ts';

const text = `
package v1

import (
	"k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Mode says how.
// +enum
type Mode string

const (
	// One of them.
	One Mode = "One"
	Two Mode = "Two"

	other = "x"
)

/* type Hidden struct {
} */

// +k8s:thing=a
// +k8s:thing=b

// Thing is a thing.
type Thing struct {
	metav1.TypeMeta \`json:",inline"\`
	// +optional
	// +listType=map
	// +listMapKey=name
	List []v1.Container \`json:"list,omitempty" patchStrategy:"merge" protobuf:"bytes,1,rep,name=list"\` // a remark

	private  map[string]string
	Mode   *Mode \`json:"mode"\`
}

type Empty struct{}

type Verbs []string // such as get
`;

test('types, fields, tags, markers, constants and imports of a Go file are read', () => {
  const file = readGo(text);
  assert.deepEqual(
    [...file.imports],
    [
      ['v1', 'k8s.io/api/core/v1'],
      ['metav1', 'k8s.io/apimachinery/pkg/apis/meta/v1'],
    ],
  );
  assert.deepEqual(
    file.structs.map(({ name }) => name),
    ['Thing', 'Empty'],
  );
  const [thing] = file.structs;
  assert.deepEqual([...(thing?.markers ?? [])], [['k8s:thing', ['a', 'b']]]);
  assert.deepEqual(
    thing?.fields.map(({ name, type }) => [name, type]),
    [
      ['', 'metav1.TypeMeta'],
      ['List', '[]v1.Container'],
      ['Mode', '*Mode'],
    ],
  );
  const list = thing?.fields[1];
  assert.equal(list?.tags.get('json'), 'list,omitempty');
  assert.equal(list?.tags.get('protobuf'), 'bytes,1,rep,name=list');
  assert.deepEqual(
    [...(list?.markers ?? [])],
    [
      ['optional', ['']],
      ['listType', ['map']],
      ['listMapKey', ['name']],
    ],
  );
  assert.deepEqual(thing?.fields[2]?.markers.size, 0);
  assert.deepEqual(
    file.named.map(({ name, type, markers }) => [name, type, markers.has('enum')]),
    [
      ['Mode', 'string', true],
      ['Verbs', '[]string', false],
    ],
  );
  assert.deepEqual([...file.constants], [['Mode', ['One', 'Two']]]);
});
