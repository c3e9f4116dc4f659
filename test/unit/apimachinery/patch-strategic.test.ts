import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { applyStrategicPatch } from '../../../src/apimachinery/patch-strategic.ts';
import { StatusError } from '../../../src/apimachinery/status-error.ts';

interface Recorded {
  readonly target: JsonObject & { readonly kind: string };
  readonly patch: JsonObject;
  readonly result?: JsonObject;
  readonly refused?: true;
}

const recorded = readFileSync(new URL('data/strategic-patches.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);
const types = new Map([
  ['Pod', 'core.v1.Pod'],
  ['Deployment', 'apps.v1.Deployment'],
  ['Service', 'core.v1.Service'],
]);

const isRejected = (error: unknown) => error instanceof StatusError && error.status.code === 400;

test('a merge has the same result and the same rejections as in kubectl 1.32', () => {
  for (const { target, patch, result } of recorded) {
    const type = kubernetesFields.typeOf(types.get(target.kind) ?? '');
    assert.ok(type);
    const words = JSON.stringify({ target, patch });
    if (result) assert.deepEqual(applyStrategicPatch(target, patch, type), result, words);
    else assert.throws(() => applyStrategicPatch(target, patch, type), isRejected, words);
  }
  const merged = recorded.filter(({ result }) => result).length;
  assert.ok(merged > 250 && recorded.length - merged > 20, `${merged} of ${recorded.length} were merged`);
});

test('an empty order of a list accepts items in any order', () => {
  const pod = kubernetesFields.typeOf('core.v1.Pod');
  assert.ok(pod);
  const spec = { containers: [{ name: 'a' }], '$setElementOrder/containers': [] };
  assert.deepEqual(applyStrategicPatch({}, { spec }, pod), { spec: { containers: [{ name: 'a' }] } });
});

test('a directive that deletes a missing object does not create the object', () => {
  const pod = kubernetesFields.typeOf('core.v1.Pod');
  assert.ok(pod);
  const patch = { spec: { securityContext: { $patch: 'delete' } } };
  assert.deepEqual(applyStrategicPatch({ spec: {} }, patch, pod), { spec: {} });
});

// A merge that searches the list from its start for every item would not finish before the timeout.
test('lists of 100,000 items are merged, ordered and emptied', () => {
  const type = kubernetesFields.typeOf('meta.v1.ObjectMeta');
  assert.ok(type);
  const finalizers = Array.from({ length: 100_000 }, (_, i) => `a/${i}`);
  const ownerReferences = finalizers.map((uid) => ({ uid }));
  const orders = {
    '$setElementOrder/ownerReferences': ownerReferences.toReversed(),
    '$setElementOrder/finalizers': finalizers.toReversed(),
  };
  const target = { finalizers, ownerReferences };
  const merged = applyStrategicPatch(target, { finalizers, ownerReferences }, type);
  assert.deepEqual(merged, target);
  const ordered = applyStrategicPatch(target, orders, type);
  assert.deepEqual(ordered.finalizers, finalizers.toReversed());
  assert.deepEqual(ordered.ownerReferences, ownerReferences.toReversed());
  const gone = ownerReferences.map((owner) => ({ ...owner, $patch: 'delete' }));
  const patch = { '$deleteFromPrimitiveList/finalizers': finalizers, ownerReferences: gone };
  assert.deepEqual(applyStrategicPatch(target, patch, type), { finalizers: [], ownerReferences: [] });
});

test('without an order of its own a patch puts new items first, as upstream does', () => {
  const pod = kubernetesFields.typeOf('core.v1.Pod');
  assert.ok(pod);
  const containers = (...names: string[]) => ({ spec: { containers: names.map((name) => ({ name })) } });
  const removal = { spec: { containers: [{ name: 'b', $patch: 'delete' }, { name: 'e' }] } };
  const cases: [JsonObject, JsonObject, JsonObject][] = [
    [containers('a', 'b'), containers('c'), containers('c', 'a', 'b')],
    [containers('a', 'b', 'd'), containers('b', 'c'), containers('a', 'b', 'c', 'd')],
    [containers('a', 'b', 'd'), containers('d', 'a'), containers('b', 'd', 'a')],
    [containers('a', 'b', 'd'), removal, containers('e', 'a', 'd')],
    [
      { metadata: { finalizers: ['x', 'y'] } },
      { metadata: { finalizers: ['z', 'y'] } },
      { metadata: { finalizers: ['z', 'x', 'y'] } },
    ],
  ];
  for (const [before, patch, after] of cases)
    assert.deepEqual(applyStrategicPatch(before, patch, pod), after);
});
