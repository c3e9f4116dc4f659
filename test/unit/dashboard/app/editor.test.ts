import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  editablePart,
  objectToSend,
  pathOfField,
  rebased,
} from '../../../../src/dashboard/app/editor/plan/edited-object.ts';
import { diffLines, foldDiff, hasChanges } from '../../../../src/dashboard/app/editor/plan/line-diff.ts';
import { fieldsAt, valuesAt } from '../../../../src/dashboard/app/editor/plan/schema.ts';
import { yamlPlace } from '../../../../src/dashboard/app/editor/plan/yaml-place.ts';

describe('the difference of two texts', () => {
  const marks = { same: ' ', added: '+', removed: '-' } as const;
  const difference = (before: string, after: string) =>
    diffLines(before, after).map(({ type, text }) => marks[type] + text);

  it('keeps the lines that both have', () => {
    assert.deepEqual(difference('a\nb\nc\nd', 'a\nx\nc\nd\ne'), [' a', '-b', '+x', ' c', ' d', '+e']);
    assert.deepEqual(difference('a\nb\nc', 'b\nc'), ['-a', ' b', ' c']);
    assert.deepEqual(difference('a', 'a'), [' a']);
  });

  it('contains both texts completely, whatever they are', () => {
    const texts = ['', 'a', 'a\nb\na\nb', 'b\na\nb\nc', 'c\nc\na', 'a\nc\nb\na\nc'];
    for (const before of texts)
      for (const after of texts) {
        const lines = diffLines(before, after);
        const side = (left: 'added' | 'removed') =>
          lines
            .filter(({ type }) => type !== left)
            .map(({ text }) => text)
            .join('\n');
        assert.deepEqual([side('added'), side('removed')], [before, after]);
        assert.equal(hasChanges(lines), before !== after);
      }
  });

  it('leaves out long runs of unchanged lines', () => {
    const before = Array.from({ length: 30 }, (_, index) => `line ${index}`);
    const after = before.with(15, 'changed');
    assert.deepEqual(
      foldDiff(diffLines(before.join('\n'), after.join('\n'))).map((part) =>
        'hidden' in part ? part.hidden : part.lines.length,
      ),
      [12, 8, 11],
    );
  });
});

describe('the place of the cursor', () => {
  const cases: readonly [text: string, path: readonly string[], key: string, word: string][] = [
    ['ki', [], '', 'ki'],
    ['spec:\n  repl', ['spec'], '', 'repl'],
    ['spec:\n  color: r', ['spec'], 'color', 'r'],
    ['spec:\n  containers:\n  - na', ['spec', 'containers', '-'], '', 'na'],
    ['spec:\n  containers:\n  - name: a\n    im', ['spec', 'containers', '-'], '', 'im'],
    [
      'spec:\n  containers:\n    - name: a\n      ports:\n      - containerPort: 80\n        pro',
      ['spec', 'containers', '-', 'ports', '-'],
      '',
      'pro',
    ],
    ['spec:\n  containers:\n  - name: a\n  nodeN', ['spec'], '', 'nodeN'],
    ['metadata:\n  labels:\n    a: b\nspec:\n\n  # words\n  re', ['spec'], '', 're'],
  ];
  for (const [text, path, key, word] of cases)
    it(`is ${[...path, key].join(' ')} in ${JSON.stringify(text)}`, () => {
      const place = yamlPlace(text, text.length);
      assert.deepEqual(
        [place.path, place.key, place.word, place.from],
        [path, key, word, text.length - word.length],
      );
    });

  it('has only the fields of the same object as siblings', () => {
    const text = 'spec:\n  items:\n  - a: 1\n    b: 2\n    \n    c: 3\n  - d: 4\n';
    assert.deepEqual(
      yamlPlace(text, text.indexOf('    \n') + 4).siblings.toSorted(),
      ['b', 'c', 'a'].toSorted(),
    );
  });
});

describe('the fields of a schema', () => {
  const kind = { group: 'sea.example.org', version: 'v1', kind: 'Boat' };
  const document = {
    components: {
      schemas: {
        Boat: {
          'x-kubernetes-group-version-kind': [kind],
          properties: {
            spec: { description: 'here', allOf: [{ $ref: '#/components/schemas/Spec' }] },
          },
        },
        Spec: {
          type: 'object',
          required: ['sails'],
          properties: {
            color: { type: 'string', enum: ['red', 'blue'] },
            sails: { type: 'integer', description: 'Number of sails' },
            isNew: { type: 'boolean' },
            crew: { type: 'array', items: { $ref: '#/components/schemas/Sailor' } },
            flags: { type: 'object', additionalProperties: { $ref: '#/components/schemas/Sailor' } },
          },
        },
        Sailor: { type: 'object', properties: { name: { type: 'string' } } },
      },
    },
  };
  const labels = (...path: string[]) => fieldsAt(document, kind, path).map(({ label }) => label);

  it('are sorted, the required ones first, and are found through references', () => {
    assert.deepEqual(labels('spec'), ['sails', 'color', 'crew', 'flags', 'isNew']);
    assert.deepEqual(labels('spec', 'crew', '-'), ['name']);
    assert.deepEqual(labels('spec', 'flags', 'any'), ['name']);
    assert.deepEqual(labels('nothing', 'here'), []);
  });

  it('have types and descriptions', () => {
    const fields = fieldsAt(document, kind, ['spec']);
    assert.deepEqual(fields[0], {
      label: 'sails',
      type: 'integer',
      description: 'Number of sails',
      isRequired: true,
    });
    assert.equal(fields.find(({ label }) => label === 'crew')?.type, 'object[]');
  });

  it('have the values of a choice and of a boolean', () => {
    assert.deepEqual(valuesAt(document, kind, ['spec', 'color']), ['red', 'blue']);
    assert.deepEqual(valuesAt(document, kind, ['spec', 'isNew']), ['true', 'false']);
    assert.deepEqual(valuesAt(document, kind, ['spec', 'sails']), []);
  });
});

describe('an edited object', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: {
      name: 'a',
      uid: 'u',
      resourceVersion: '7',
      creationTimestamp: 'then',
      generation: 2,
      labels: { x: 'y' },
    },
    spec: { replicas: 2 },
    status: { replicas: 1 },
  };

  it('is shown without the fields that the server sets, and without a status that is a subresource', () => {
    const part = editablePart(object, true);
    assert.deepEqual(part, {
      apiVersion: 'v1',
      kind: 'Thing',
      metadata: { name: 'a', labels: { x: 'y' } },
      spec: { replicas: 2 },
    });
    assert.deepEqual(editablePart(object, false).status, { replicas: 1 });
  });

  it('is sent at the version on which the edit began', () => {
    const sent = objectToSend({ ...editablePart(object, true), spec: { replicas: 3 } }, object);
    assert.deepEqual(sent.metadata, { name: 'a', labels: { x: 'y' }, resourceVersion: '7', uid: 'u' });
  });

  it('is rejected if its name was changed, or if the text is not an object', () => {
    assert.throws(() => objectToSend({ metadata: { name: 'b' } }, object), /metadata\.name must stay a/);
    assert.throws(() => objectToSend('words', object), /not an object/);
  });

  it('keeps the changes of another user together with its own', () => {
    const before = { spec: { replicas: 2, paused: false } };
    const newest = { spec: { replicas: 2, paused: true } };
    assert.deepEqual(rebased(before, { spec: { replicas: 5, paused: false } }, newest), {
      spec: { replicas: 5, paused: true },
    });
  });

  it('has a path for the field of a refusal', () => {
    assert.deepEqual(pathOfField('spec.containers[0].image'), ['spec', 'containers', 0, 'image']);
    assert.deepEqual(pathOfField('metadata.labels[a.b/c]'), ['metadata', 'labels', 'a.b/c']);
  });
});
