/**
 * Records what kubectl answers to strategic merge patches: `npm run record:strategic-patches` writes
 * strategic-patches.jsonl beside this file (kubectl 1.32 is needed; two minutes). patch-strategic.test.ts
 * compares the merge of minik8s with the recorded answers. The same seed gives the same documents.
 *
 * The merge of minik8s differs from kubectl's in three ways, which the documents avoid:
 * - kubectl takes a value that is new in the target, or replaces one, as the patch has it: it leaves
 *   directives and nulls in it, drops an inner object with `$patch: replace`, and checks no merge key.
 *   minik8s follows the directives there as everywhere else, and refuses a malformed patch.
 * - kubectl refuses an order of a list of which neither the target nor the patch has an item. minik8s ignores
 *   the order.
 * - kubectl puts the new items of a list with an empty order in no certain order. minik8s keeps the patch's.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { isRecord, type JsonObject } from '../../../../src/apimachinery/equality.ts';
import { kubectlOf } from '../../../fixtures/kubectls.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

const count = 360;
const random = new SeededRandom(27);
const often = (chance: number) => random.next() < chance;
const pick = <T>(values: readonly T[]): T => values[random.below(values.length)] as T;
const some = <T>(most: number, make: () => T): T[] => Array.from({ length: random.below(most + 1) }, make);

/** Type of a document: only a patch has directives. */
type Side = 'target' | 'patch';

/** Returns a directive that changes how an object is merged: now and then, and only in a patch. */
const directive = (side: Side) =>
  side === 'patch' && often(0.08) ? { $patch: pick(['delete', 'delete', 'replace', 'merge', 'frob']) } : {};

const scalar = () => pick(['a', 'b', 'c', 'd', 1, true]);

/** Returns the values of some keys in a random order: a target has each key once, as a valid object has. */
function keys<T>(side: Side, all: readonly T[]): T[] {
  const left = [...all];
  const chosen: T[] = [];
  while (left.length > 0 && often(0.6)) chosen.push(...left.splice(random.below(left.length), 1));
  if (side === 'patch' && chosen.length > 0 && often(0.05)) chosen.push(pick(chosen));
  return chosen;
}

/**
 * Returns a list that merges by `key` under its name, and in a patch now and then the order of its items:
 * complete, or with some of the items left out.
 */
function list(
  side: Side,
  name: string,
  key: string,
  ids: readonly unknown[],
  more: () => object = () => ({}),
): object {
  const chosen = keys(side, ids);
  const items = chosen.map((id) => ({
    ...(side === 'target' || often(0.98) ? { [key]: id } : {}),
    ...directive(side),
    ...more(),
  }));
  const other = ids.filter((id) => !chosen.includes(id) && often(0.5));
  const order = often(0.7) ? [...chosen, ...other] : keys('target', ids);
  return {
    [name]: items,
    ...(side === 'patch' &&
      items.length > 0 &&
      order.length > 0 &&
      often(0.35) && { [`$setElementOrder/${name}`]: order.map((id) => ({ [key]: id })) }),
  };
}

/**
 * Returns a list of scalars that merges as a set, and in a patch now and then its order and removals (of
 * items that the patch does not add: kubectl does either of the two first, by chance).
 */
function set(side: Side, name: string): object {
  const items = keys(side, ['a/b', 'a/c', 'a/d', 'a/e']);
  return {
    [name]: items,
    ...(side === 'patch' &&
      items.length > 0 &&
      often(0.3) && { [`$setElementOrder/${name}`]: [...items, 'a/f'] }),
    ...(side === 'patch' &&
      often(0.3) && {
        [`$deleteFromPrimitiveList/${name}`]: keys('target', ['a/b', 'a/c', 'a/g']).filter(
          (id) => !items.includes(id),
        ),
      }),
  };
}

const map = (side: Side) => ({
  ...(often(0.7) && { a: side === 'patch' && often(0.3) ? null : pick(['1', '2']) }),
  ...(often(0.5) && { b: pick(['1', '2']) }),
  ...directive(side),
});

const metadata = (side: Side) => ({
  ...(side === 'target' && { name: 'web' }),
  ...(often(0.6) && set(side, 'finalizers')),
  ...(often(0.4) &&
    list(side, 'ownerReferences', 'uid', ['u1', 'u2', 'u3'], () => ({ kind: pick(['A', 'B']) }))),
  ...(often(0.5) && { labels: map(side) }),
});

const container = (side: Side) => () => ({
  ...(often(0.6) && { image: side === 'patch' && often(0.15) ? null : pick(['i', 'j']) }),
  ...(often(0.3) && list(side, 'env', 'name', ['A', 'B', 'C'], () => ({ value: pick(['1', '2']) }))),
  ...(often(0.25) &&
    list(side, 'ports', 'containerPort', [80, 81, 82], () => (often(0.5) ? { name: pick(['x', 'y']) } : {}))),
  ...(often(0.2) &&
    list(side, 'volumeMounts', 'mountPath', ['/a', '/b'], () => ({ name: pick(['v', 'w']) }))),
  ...(often(0.2) && { command: some(3, scalar) }),
});

/** Returns a volume's source; a patch removes the other sources with `$retainKeys`. */
const source = (side: Side) => () => {
  const name = pick(['emptyDir', 'hostPath']);
  return {
    [name]: name === 'emptyDir' ? { sizeLimit: pick(['1Gi', '2Gi']) } : { path: pick(['/x', '/y']) },
    ...(side === 'patch' && often(0.5) && { $retainKeys: often(0.9) ? ['name', name] : ['name'] }),
  };
};

const podSpec = (side: Side) => ({
  ...list(side, 'containers', 'name', ['a', 'b', 'c'], container(side)),
  ...(often(0.3) && list(side, 'volumes', 'name', ['v', 'w', 'x'], source(side))),
  ...(often(0.2) && list(side, 'imagePullSecrets', 'name', ['s', 't'])),
  ...(often(0.2) && { tolerations: some(2, () => ({ key: pick(['k', 'l']), operator: 'Exists' })) }),
  ...(often(0.3) && { nodeSelector: map(side) }),
  ...(often(0.2) && { hostNetwork: pick([true, false]) }),
  ...directive(side),
});

const strategy = (side: Side) =>
  often(0.5)
    ? { type: 'Recreate', ...(side === 'patch' && { $retainKeys: ['type'] }) }
    : {
        type: 'RollingUpdate',
        rollingUpdate: { maxSurge: pick([1, '25%']) },
        ...(side === 'patch' && often(0.7) && { $retainKeys: ['rollingUpdate', 'type'] }),
      };

const kinds: readonly { readonly head: object; readonly spec: (side: Side) => object }[] = [
  { head: { apiVersion: 'v1', kind: 'Pod' }, spec: podSpec },
  {
    head: { apiVersion: 'apps/v1', kind: 'Deployment' },
    spec: (side) => ({
      ...(often(0.6) && { replicas: side === 'patch' && often(0.2) ? null : random.below(5) }),
      ...(often(0.5) && { strategy: strategy(side) }),
      ...(often(0.4) && { selector: { matchLabels: map(side) } }),
      ...(often(0.8) && { template: { metadata: metadata(side), spec: podSpec(side) } }),
    }),
  },
  {
    head: { apiVersion: 'v1', kind: 'Service' },
    spec: (side) => ({
      ...list(side, 'ports', 'port', [80, 81, 82, 83], () => ({
        ...(often(0.5) && { name: pick(['x', 'y']) }),
        ...(often(0.3) && { protocol: pick(['TCP', 'UDP']) }),
      })),
      ...(often(0.5) && { selector: map(side) }),
      ...(often(0.3) && { externalIPs: some(3, () => pick(['192.0.2.1', '192.0.2.2', '192.0.2.3'])) }),
      ...directive(side),
    }),
  },
];

const mergeKeys = ['uid', 'containerPort', 'mountPath', 'port', 'name'];
const mergeKeyOf = (item: JsonObject) => mergeKeys.find((key) => key in item);

/** Returns the patch without directives, nulls and invalid items in values that are new in the target. */
function settled(target: unknown, patch: unknown): unknown {
  if (Array.isArray(patch)) {
    const found = (item: unknown) => {
      const key = isRecord(item) ? mergeKeyOf(item) : undefined;
      if (key === undefined || !isRecord(item) || !Array.isArray(target)) return undefined;
      return target.find((old) => isRecord(old) && old[key] === item[key]);
    };
    const unique = new Set<unknown>();
    return patch
      .filter((item) => {
        if (target !== undefined || (isRecord(item) && 'operator' in item)) return true;
        const id = isRecord(item) ? item[mergeKeyOf(item) ?? ''] : item;
        const isNew = id !== undefined && !unique.has(id);
        unique.add(id);
        return isNew && !(isRecord(item) && item.$patch === 'delete');
      })
      .map((item) => (isRecord(item) && item.$patch === 'delete' ? item : settled(found(item), item)));
  }
  if (!isRecord(patch)) return patch;
  if (isRecord(target) && patch.$patch === 'replace') {
    const { $patch, ...content } = patch;
    return { $patch, ...(settled(undefined, content) as JsonObject) };
  }
  if (isRecord(target))
    return Object.fromEntries(
      Object.entries(patch).map(([key, value]) => [key, settled(target[key], value)]),
    );
  const plain = Object.entries(patch).filter(
    ([key, value]) => value !== null && (!key.startsWith('$') || (key === '$patch' && value === 'delete')),
  );
  return Object.fromEntries(plain.map(([key, value]) => [key, settled(undefined, value)]));
}

const kubectl = kubectlOf('1.32');
if (kubectl === undefined) throw new Error('kubectl 1.32 is not on this machine; run bin/get-kubectl');
const { path } = kubectl;

/** Resolves with the patched object, or with undefined if kubectl refuses the patch. */
function answerOf(target: object, patch: unknown): Promise<JsonObject | undefined> {
  const args = [
    'patch',
    '--local',
    '--type',
    'strategic',
    '-f',
    '-',
    '-p',
    JSON.stringify(patch),
    '-o',
    'json',
  ];
  return new Promise((resolve) => {
    const child = execFile(path, args, (error, stdout) => resolve(error ? undefined : JSON.parse(stdout)));
    child.stdin?.end(JSON.stringify(target));
  });
}

const lines: string[] = [];
for (let made = 0; made < count; made++) {
  const { head, spec } = pick(kinds);
  const target = { ...head, metadata: metadata('target'), spec: spec('target') };
  const patch = settled(target, { ...(often(0.7) && { metadata: metadata('patch') }), spec: spec('patch') });
  const result = await answerOf(target, patch);
  lines.push(JSON.stringify({ target, patch, ...(result ? { result } : { refused: true }) }));
}
writeFileSync(new URL('strategic-patches.jsonl', import.meta.url), `${lines.join('\n')}\n`);
