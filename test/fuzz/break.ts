/** Functions that break a value, or the text of one. */
import type { SeededRandom } from '../fixtures/seeded-random.ts';
import { pick } from './schema.ts';

/** Placeholder for a text that JSON.stringify cannot produce; replaced at the end. */
const raw = (text: string) => `@@raw:${text}@@`;
const rawText = /"@@raw:([^@"]*)@@"/g;

const nested = (depth: number, open: string, close: string) => raw(open.repeat(depth) + close.repeat(depth));

const strange: readonly ((random: SeededRandom) => unknown)[] = [
  ...[null, 0, -1, 1, 1e300, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 1.5, true, false].map((value) => () => value),
  ...[
    '1e400',
    '-1e400',
    '1e-400',
    '-0',
    '9'.repeat(400),
    '0.'.padEnd(300, '1'),
    '9223372036854775808',
    '1E5',
  ].map((text) => () => raw(text)),
  ...[
    '',
    'a',
    'web',
    '\0',
    '\u0000a',
    '🐛',
    '\ud800',
    '\udfff',
    '\u202e',
    '\u2028',
    '\ufeff',
    'é'.normalize('NFD'),
  ].map((value) => () => value),
  ...['1Gi', '10%', '-1%', '1e9999', '1n', '0x10', '999999999999999999999Ei', '1.5.5', '+5', '١٢'].map(
    (value) => () => value,
  ),
  ...['2026-01-01T00:00:00Z', '2026-13-01T00:00:00Z', '0001-01-01T00:00:00Z', '99999-01-01T00:00:00Z'].map(
    (value) => () => value,
  ),
  ...['*', 'a/b', '../..', '%2e%2e', '::', '::ffff:1.2.3.4', '1.2.3.4', '0.0.0.0/0', '::/0', '@every 1s'].map(
    (value) => () => value,
  ),
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'system:masters', 'YQ==', 'YQ'].map(
    (value) => () => value,
  ),
  () => [],
  () => ({}),
  () => [null],
  () => [[]],
  () => [{}],
  () => ({ a: null }),
  () => ({ name: 'a' }),
  () => JSON.parse('{"__proto__":{"a":1}}'),
  () => ({ constructor: { prototype: { a: 1 } } }),
  () => ({ toString: 1, valueOf: 'a', length: -1 }),
  () => ({ $patch: 'delete' }),
  () => ({ $patch: 'replace' }),
  () => ({ $retainKeys: ['a'] }),
  () => [{ $patch: 'replace' }],
  () => ({ '$setElementOrder/containers': [{ name: 'c' }] }),
  () => ({ '$deleteFromPrimitiveList/finalizers': ['a'] }),
  () => ({ matchLabels: { a: 'b' } }),
  () => ({ matchExpressions: [{ key: 'a', operator: 'In', values: [] }] }),
  (random) => 'x'.repeat(pick(random, [64, 254, 300])),
];

/** Share of values that cost the server much; they are rare. */
const largeShare = 0.02;
const large: readonly ((random: SeededRandom) => unknown)[] = [
  (random) => 'x'.repeat(pick(random, [5000, 200_000])),
  (random) => 'a.'.repeat(pick(random, [200, 20_000])),
  (random) => '/'.repeat(pick(random, [300, 20_000])),
  (random) => nested(pick(random, [20, 200, 5000, 50_000]), '[', ']'),
  (random) => Array.from({ length: pick(random, [20, 200, 3000]) }).reduce((inner) => ({ a: inner }), {}),
  (random) => Array.from({ length: pick(random, [100, 2000, 20_000]) }, (_, i) => `v${i}`),
  (random) => Array.from({ length: pick(random, [100, 2000]) }, () => 'same'),
  (random) => Array.from({ length: pick(random, [100, 2000]) }, (_, i) => ({ name: `n${i}`, value: '' })),
  (random) => Object.fromEntries(Array.from({ length: pick(random, [100, 5000]) }, (_, i) => [`k${i}`, 'v'])),
];

const strangeValue = (random: SeededRandom) =>
  pick(random, random.next() < largeShare ? large : strange)(random);

type Container = Record<string | number, unknown>;
type Place = readonly [Container, string | number];

function placesOf(value: unknown, out: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return out;
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
  for (const key of keys) {
    out.push([value as Container, key]);
    placesOf((value as Container)[key], out);
  }
  return out;
}

const names = [
  ...['status', 'spec', 'data', 'metadata', 'labels', 'annotations', 'finalizers', 'ownerReferences', 'name'],
  ...[
    'managedFields',
    'resourceVersion',
    'uid',
    'generateName',
    'namespace',
    'deletionTimestamp',
    'generation',
  ],
  ...[
    'creationTimestamp',
    'deletionGracePeriodSeconds',
    'selfLink',
    'kind',
    'apiVersion',
    'items',
    'template',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    '',
    'a',
    'A',
    '🐛',
    '$patch',
    '$retainKeys',
    'immutable',
    'x'.repeat(300),
  ],
];

/** Breaks one more thing in the value, and returns the result. The value itself may be replaced. */
export function breakOnce(value: unknown, random: SeededRandom): unknown {
  const place = pick(random, placesOf(value));
  if (!place) return strangeValue(random);
  const [container, key] = place;
  const way = random.next();
  if (way < 0.12) delete container[key];
  else if (way < 0.72) container[key] = strangeValue(random);
  else if (way < 0.82 && Array.isArray(container)) container.push(structuredClone(container[key]));
  else if (way < 0.86 && Array.isArray(container)) {
    const times = pick(random, [1, 1, 2, 2, 10, 10, 30, 300, 3000]);
    for (let time = 0; time < times; time++) container.push(structuredClone(container[key]));
  } else if (way < 0.88) container[key] = [container[key]];
  else if (way < 0.9) container[key] = { a: container[key] };
  else {
    const at = Array.isArray(container) ? random.below(3) : pick(random, names);
    Object.defineProperty(container, at, {
      value: strangeValue(random),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return value;
}

export const jsonOf = (value: unknown): string => (JSON.stringify(value) ?? 'null').replaceAll(rawText, '$1');

/** Returns a text with invalid syntax or encoding. */
export function breakText(text: string, random: SeededRandom): string | Uint8Array {
  const cut = random.below(text.length + 1);
  switch (random.below(12)) {
    case 0:
      return text.slice(0, cut);
    case 1:
      return `\ufeff${text}`;
    case 2:
      return text.replace('{', '{"kind":"a","kind":"b","metadata":{},');
    case 3:
      return `${text}${text}`;
    case 4:
      return text.replaceAll('"', "'");
    case 5:
      return Buffer.concat([
        Buffer.from(text.slice(0, cut)),
        Buffer.from([0xff, 0xc0, 0]),
        Buffer.from(text.slice(cut)),
      ]);
    case 6:
      return text.replaceAll(',', ',,');
    case 7:
      return `&a [*a, ${text}]`;
    case 8:
      return `a: &a [1]\nb: {<<: *a}\nc: !!js/function 'x'\n--- \n${text}`;
    case 9:
      return `${'- '.repeat(pick(random, [5, 3000]))}a`;
    case 10:
      return Buffer.from(text, 'utf16le');
    default:
      return (
        text.slice(0, cut) +
        pick(random, ['\\u12', '\\', '\0', '"', '}', ']', '[', '{', '// a', 'NaN']) +
        text.slice(cut)
      );
  }
}

/** Returns broken bytes of a message of fields with lengths. */
export function breakBytes(bytes: Uint8Array, random: SeededRandom): Uint8Array {
  const broken = new Uint8Array(bytes);
  for (let times = random.below(6); times > 0; times--)
    broken[random.below(broken.length)] = pick(random, [0, 1, 0x7f, 0x80, 0xff, random.below(256)]);
  if (random.next() < 0.2) return broken.subarray(0, random.below(broken.length + 1));
  if (random.next() < 0.1) return Buffer.concat([broken, broken]);
  return broken;
}
