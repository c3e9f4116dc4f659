import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it } from 'node:test';
import type { Fn } from '../../../../../src/features/functions/api/function.ts';
import type { FunctionVersion } from '../../../../../src/features/functions/api/function-version.ts';
import { statusOfTwin, versionOf } from '../../../../../src/features/functions/controller/version-plan.ts';
import { meta } from '../../../controllers/objects.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const images = { python: 'python:3-slim', nodejs: 'node:lts-slim' };

const fn = (spec: Partial<Fn['spec']> = {}) =>
  ({
    metadata: meta('hello'),
    spec: {
      runtime: 'python',
      handler: 'main.handler',
      files: { 'main.py': 'a', 'b.py': 'b' },
      concurrency: 10,
      timeoutSeconds: 30,
      ...spec,
    },
  }) as Fn;

const made = (spec: Partial<Fn['spec']> = {}, using = images) => {
  const { metadata, spec: own } = versionOf(fn(spec), using, digest);
  return { name: metadata.name, image: own.image };
};

it('a version is named by the fields that define its instances', () => {
  const { name, image } = made();
  assert.match(name ?? '', /^hello-[0-9a-f]{10}$/);
  assert.match(image, /^minik8s\.function\/default\/hello:[0-9a-f]{32}$/);
  assert.deepEqual(made(), { name, image });
  const { apiVersion, kind, metadata } = versionOf(fn(), images, digest);
  assert.deepEqual([apiVersion, kind], ['minik8s.io/v1', 'FunctionVersion']);
  assert.deepEqual([metadata.namespace, metadata.labels], ['default', { 'minik8s.io/function': 'hello' }]);
});

it('the order of files does not change a version', () =>
  assert.deepEqual(made({ files: { 'b.py': 'b', 'main.py': 'a' } }), made()));

it('the number of instances and the permitted callers do not change a version', () =>
  assert.deepEqual(made({ maxScale: 3, public: true, idleSeconds: 5, target: 9 }), made()));

for (const [what, spec] of Object.entries<Partial<Fn['spec']>>({
  environment: { env: [{ name: 'A', value: '1' }] },
  concurrency: { concurrency: 1 },
  timeout: { timeoutSeconds: 1 },
  resources: { resources: { limits: { cpu: '1' } } },
}))
  it(`another ${what} gives another version with the same image`, () => {
    const other = made(spec);
    assert.notEqual(other.name, made().name);
    assert.equal(other.image, made().image);
  });

for (const [what, spec] of Object.entries<Partial<Fn['spec']>>({
  content: { files: { 'main.py': 'c', 'b.py': 'b' } },
  path: { files: { 'main.py': 'a', 'c.py': 'b' } },
  handler: { handler: 'b.handler' },
  'binary file': { binaryFiles: { x: 'AAAA' } },
}))
  it(`another ${what} gives another image`, () => assert.notEqual(made(spec).image, made().image));

it('another image of the runtime gives another image of the function', () =>
  assert.notEqual(made({}, { ...images, python: 'python:4' }).image, made().image));

it('an image of the user is used unchanged', () => {
  const own = versionOf(
    fn({ runtime: undefined, files: undefined, handler: undefined, image: 'app:1' }),
    images,
    digest,
  );
  assert.equal(own.spec.image, 'app:1');
  assert.equal(own.spec.baseImage, undefined);
});

const version = (name: string, image: string, status?: FunctionVersion['status']) =>
  ({ metadata: meta(name), spec: { image }, status }) as FunctionVersion;
const built = {
  lock: 'a==1',
  conditions: [{ type: 'Built', status: 'True' as const, reason: '', message: '' }],
};
const failed = { conditions: [{ type: 'Built', status: 'False' as const, reason: '', message: '' }] };

it('a version takes over the lock of another version with the same image', () => {
  const one = version('one', 'i:1');
  assert.equal(statusOfTwin(one, [one, version('two', 'i:1', built)]), built);
});
for (const [why, own, others] of [
  ['the version was built already', version('one', 'i:1', built), [version('two', 'i:1', built)]],
  [
    'the version was built already, without libraries',
    version('one', 'i:1', { conditions: built.conditions }),
    [version('two', 'i:1', built)],
  ],
  [
    'the version has a lock and is not built yet',
    version('one', 'i:1', { lock: 'b==1' }),
    [version('two', 'i:1', built)],
  ],
  ['the other version has another image', version('one', 'i:1'), [version('two', 'i:2', built)]],
  ['the other version was not built', version('one', 'i:1'), [version('two', 'i:1', failed)]],
  ['there is no other version', version('one', 'i:1'), []],
] as const)
  it(`a version takes over no lock when ${why}`, () =>
    assert.equal(statusOfTwin(own, [own, ...others]), undefined));
