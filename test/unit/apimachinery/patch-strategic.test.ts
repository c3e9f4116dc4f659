import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { isRecord, type JsonObject } from '../../../src/apimachinery/equality.ts';
import { applyStrategicPatch } from '../../../src/apimachinery/patch-strategic.ts';
import { applyPlainStrategicPatch } from '../../fixtures/plain-strategic-patch.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const random = new SeededRandom(18);
const often = (chance: number) => random.next() < chance;
const pick = <T>(values: readonly T[]): T => values[random.below(values.length)] as T;
const some = <T>(most: number, make: () => T): T[] => Array.from({ length: random.below(most + 1) }, make);

const scalar = () => pick(['a', 'b', 'c', 'd', 1, 2, true, null, '1', { x: 1 }, ['a']]);
const directive = () =>
  often(0.15) ? { $patch: pick(['delete', 'replace', 'merge', 'delete', 'frob']) } : {};
const retain = () =>
  often(0.1) ? { $retainKeys: some(4, () => pick(['name', 'image', 'env', 'ports'])) } : {};

/**
 * Returns an item of a list that merges by `key`; sometimes without the key, or with one that is not a text.
 */
const item = (key: string, patch: boolean, more: () => object = () => ({})) => ({
  ...(often(0.97) && { [key]: often(0.9) ? pick(['a', 'b', 'c', 'd', 'e']) : pick([1, 2, { x: 1 }]) }),
  ...(often(0.5) && { image: patch && often(0.2) ? null : pick(['i', 'j']) }),
  ...(patch && { ...directive(), ...retain() }),
  ...more(),
});

const env = (patch: boolean) => () => (often(0.4) ? { env: some(4, () => item('name', patch)) } : {});

/**
 * Returns directives beside the field `name`: an order (mostly of all items), or items to delete from a set.
 */
function beside(name: string, key: string | undefined): object {
  const order = (all: readonly string[]) =>
    all.filter(() => often(0.8)).map((id) => (key === undefined ? id : { [key]: id }));
  return {
    ...(often(0.5) && { [`$setElementOrder/${name}`]: order(['a', 'b', 'c', 'd', 'e']) }),
    ...(key === undefined && often(0.3) && { [`$deleteFromPrimitiveList/${name}`]: some(3, scalar) }),
  };
}

const metadata = (patch: boolean) => ({
  finalizers: some(6, scalar),
  ownerReferences: some(4, () => item('uid', patch)),
  ...(often(0.5) && { labels: patch ? { a: null, b: 'c', ...directive() } : { a: 'b' } }),
  ...(patch && { ...beside('finalizers', undefined), ...beside('ownerReferences', 'uid'), ...directive() }),
});

const spec = (patch: boolean) => ({
  containers: some(6, () => item('name', patch, env(patch))),
  ...(often(0.3) && { tolerations: some(3, scalar) }),
  ...(patch && { ...beside('containers', 'name'), ...directive(), ...retain() }),
});

const outcome = (apply: typeof applyStrategicPatch, target: JsonObject, patch: JsonObject) => {
  const type = kubernetesFields.typeOf('core.v1.Pod');
  assert.ok(type);
  try {
    return { result: apply(target, patch, type) };
  } catch (error) {
    return { refused: String(error).replace(/(does not match [^:]*):.*/, '$1') };
  }
};

test('merging by maps gives what searching the lists gives', () => {
  let merged = 0;
  for (let run = 0; run < 5000; run++) {
    const target = { metadata: metadata(false), spec: spec(false) };
    const patch = { metadata: metadata(true), ...(often(0.7) && { spec: spec(true) }) };
    const wanted = outcome(applyPlainStrategicPatch, target, patch);
    const words = JSON.stringify({ run, target, patch });
    assert.deepEqual(outcome(applyStrategicPatch, target, patch), wanted, words);
    if (isRecord(wanted.result)) merged++;
  }
  assert.ok(merged > 500, `only ${merged} patches applied`);
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

test('without an order of its own a patch puts what is new first, as upstream does', () => {
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
