/** History of a template: names, order, and the newest revision. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ControllerRevision } from '../../../../../src/api/apps/v1/controller-revision.ts';
import { deepCopy } from '../../../../../src/apimachinery/equality.ts';
import {
  planRevisions,
  revisionData,
  revisionHash,
  revisionName,
  templateOf,
} from '../../../../../src/controllers/workloads/revisions/revisions-plan.ts';
import { at, meta, replicaSet } from '../../objects.ts';

const template = deepCopy(replicaSet('web', 1).spec.template);
const data = revisionData(template);
const revision = (name: string, number: number, content: unknown = data): ControllerRevision => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: meta(name),
  data: content,
  revision: number,
});
const plan = (...revisions: ControllerRevision[]) => {
  const { current, number, duplicates, old } = planRevisions(revisions, data);
  const names = (some: readonly ControllerRevision[]) => some.map(({ metadata }) => metadata.name);
  return [current?.metadata.name, number, names(duplicates), names(old)];
};

describe('the data of a revision', () => {
  it('is a patch that replaces another template', () => {
    const metadata = { ...template.metadata, creationTimestamp: null };
    assert.deepEqual(data, { spec: { template: { ...template, metadata, $patch: 'replace' } } });
    assert.deepEqual(templateOf(revision('a', 1)), { ...template, metadata });
  });

  it('has sorted keys, and the null time that Go writes', () => {
    const { metadata, spec } = template;
    const text =
      '{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{"a":"1","b":"2"}},';
    const mixed = { spec, metadata: { labels: { b: '2', a: '1' } } as unknown as typeof metadata };
    assert.ok(JSON.stringify(revisionData(mixed)).startsWith(text));
  });

  it('without a template yields undefined', () => {
    for (const content of [null, {}, { spec: 1 }, { spec: { template: [] } }, { spec: { template: {} } }])
      assert.equal(templateOf(revision('a', 1, content)), undefined);
    assert.equal(
      templateOf(revision('a', 1, { spec: { template: { metadata: {}, spec: 'x' } } })),
      undefined,
    );
  });

  it('has a stable name, without which every restart would cause a rollout', () => {
    assert.equal(revisionHash(data, 0), revisionHash(data, undefined));
    assert.equal(revisionHash(JSON.parse(JSON.stringify(data)), 0), revisionHash(data, 0));
    assert.equal(revisionHash({ a: 1, b: ['x'] }, 0), '76c79ffdd9');
    assert.notEqual(revisionHash(data, 1), revisionHash(data, 0));
    assert.equal(revisionName('web', 'abc'), 'web-abc');
    assert.equal(revisionName('w'.repeat(250), 'abc'), `${'w'.repeat(223)}-abc`);
  });
});

describe('the newest revision', () => {
  it('is created if none is equal, with the next number', () => {
    assert.deepEqual(plan(), [undefined, 1, [], []]);
    assert.deepEqual(plan(revision('b', 7, {}), revision('a', 3, {})), [undefined, 8, [], ['a', 'b']]);
  });

  it('is kept if it is equal, and gets the next number if the template has returned to it', () => {
    assert.deepEqual(plan(revision('a', 1, {}), revision('b', 2)), ['b', 2, [], ['a']]);
    assert.deepEqual(plan(revision('b', 2), revision('a', 3, {})), ['b', 4, [], ['a']]);
    assert.deepEqual(plan(revision('b', 3), revision('a', 3, {})), ['b', 4, [], ['a']]);
  });

  it('has the highest number, and is the youngest among equals', () => {
    assert.deepEqual(plan(revision('b', 2), revision('a', 5)), ['a', 5, ['b'], []]);
    const young = { ...revision('a', 2), metadata: meta('a', { creationTimestamp: at(9) }) };
    assert.deepEqual(plan(young, revision('b', 2)), ['a', 2, ['b'], []]);
  });

  it('keeps the largest safe integer as its number', () => {
    const last = revision('x', Number.MAX_SAFE_INTEGER, {});
    assert.deepEqual(plan(last), [undefined, Number.MAX_SAFE_INTEGER, [], ['x']]);
    assert.deepEqual(plan(last, revision('b', Number.MAX_SAFE_INTEGER))[1], Number.MAX_SAFE_INTEGER);
  });
});
