import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BuildError } from '../../../../../src/features/functions/agent/plan/build-error.ts';
import {
  packageToInstall,
  portableLock,
} from '../../../../../src/features/functions/agent/plan/node-libraries.ts';
import {
  lockOfReport,
  requirementLines,
} from '../../../../../src/features/functions/agent/plan/python-libraries.ts';
import { processorTime } from '../../../../fixtures/processor-time.ts';

test('requirements.txt may have names, versions, extras, markers and hashes', () => {
  const hash = `--hash=sha256:${'a'.repeat(64)}`;
  const text = [
    '\uFEFF# a comment',
    'requests',
    'flask==2.0.1  # why',
    'a[b, c] >= 1.0, <2 ; python_version < "3.12"',
    'x-y_z.w ~=1.4.2',
    `pinned==1 \\\r\n  ${hash} \\\n  ${hash}`,
    '',
  ].join('\n');
  assert.deepEqual(requirementLines(text), [
    'requests',
    'flask==2.0.1',
    'a[b, c] >= 1.0, <2 ; python_version < "3.12"',
    'x-y_z.w ~=1.4.2',
    `pinned==1    ${hash}    ${hash}`,
  ]);
  assert.deepEqual(requirementLines('# nothing\n\n'), []);
});

for (const line of [
  '--index-url http://x',
  '-i http://x',
  '-r ../../etc/passwd',
  '-e .',
  '--find-links=/root',
  'a --config-settings=x=y',
  'a --global-option=x',
  'git+https://x/y',
  'a @ git+file:///etc',
  'a @ https://x/a.whl',
  './a.whl',
  '/root/a.whl',
  'file:///a.whl',
  'a==$PIP_INDEX_URL',
  'a;python_version<"3" @ http://x',
  'a b',
  'a=1',
  `a==${'1'.repeat(30_000)}`,
  'a\u00a0-r x',
])
  test(`requirements.txt: ${line.slice(0, 60)} is refused`, () => {
    assert.throws(() => requirementLines(line), BuildError);
  });

test('requirements.txt may have extras and versions in brackets', () => {
  for (const line of ['a[b]', 'a[b]==1', 'a (>=1,<2)', 'a(==1)', 'a[b,c] (~=1.0)'])
    assert.deepEqual(requirementLines(line), [line]);
  for (const line of ['a[]', 'a[b', 'a]', 'a[b]]', 'a (>=1', 'a >=1)', 'a ()', 'a[b;c]'])
    assert.throws(() => requirementLines(line), BuildError, line);
});

test('a hostile requirements.txt is read in linear time', () => {
  for (const text of [
    `${'a'.repeat(500_000)}!`,
    `a${' '.repeat(19_000)}!`,
    `a${'[a'.repeat(6000)}`,
    `a==1${',==1'.repeat(4000)}?`,
  ]) {
    const began = processorTime();
    assert.throws(() => requirementLines(text), BuildError);
    assert.ok(processorTime() - began < 5000, text.slice(0, 20));
  }
});

test('the lock of python identifies each archive by its hash', () => {
  const one = (name: string, version: string, sha256?: string) => ({
    metadata: { name, version },
    download_info: { url: 'http://user:word@x/', archive_info: { hashes: { sha256 } } },
  });
  const report = { install: [one('b', '2', 'bb'), one('a', '1', 'aa')] };
  assert.equal(lockOfReport(JSON.stringify(report)), 'a==1 --hash=sha256:aa\nb==2 --hash=sha256:bb\n');
  assert.throws(() => lockOfReport(JSON.stringify({ install: [one('a', '1')] })), /which archive/);
});

for (const [report, what] of [
  ['', 'no report'],
  ['{"install": [', 'a part of a report'],
  ['[]', 'a list'],
  ['{"version": "1"}', 'a report without its archives'],
] as const) {
  test(`${what} of pip is refused with the requirement of the image`, () => {
    const refused = (error: unknown) => error instanceof BuildError && /needs pip 22\.2/.test(error.message);
    assert.throws(() => lockOfReport(report), refused);
  });
}

test('only the dependencies of package.json are installed', () => {
  assert.equal(packageToInstall('{"type":"module","devDependencies":{"a":"1"}}'), undefined);
  const given = {
    name: 'x',
    scripts: { preinstall: 'x' },
    dependencies: { a: '^1', '@s/b': '>=1 <2 || 3.x', c: 'latest', d: 'npm:e@1.0.0', f: '*', g: '' },
    overrides: { a: { h: '$c', i: '1' } },
    publishConfig: { registry: 'http://x' },
  };
  const made = JSON.parse(packageToInstall(JSON.stringify(given)) ?? '') as object;
  assert.deepEqual(Object.keys(made).sort(), [
    ...['dependencies', 'devDependencies', 'name', 'optionalDependencies', 'overrides', 'private', 'version'],
  ]);
  assert.deepEqual((made as typeof given).dependencies, given.dependencies);
});

for (const [what, text] of Object.entries({
  'no JSON': '{',
  'a list': '[]',
  'a repository': '{"dependencies":{"a":"git+ssh://x/y"}}',
  'a short repository': '{"dependencies":{"a":"user/repository"}}',
  'an address': '{"dependencies":{"a":"http://169.254.169.254/x.tgz"}}',
  'a folder': '{"dependencies":{"a":"file:../../etc"}}',
  'a link': '{"dependencies":{"a":"link:/etc"}}',
  'the folder above': '{"dependencies":{"a":".."}}',
  'an archive': '{"dependencies":{"a":"a.tgz"}}',
  'a variable': '{"dependencies":{"a":"$HOME"}}',
  'no text': '{"dependencies":{"a":{}}}',
  'a path in place of a name': '{"dependencies":{"../a":"1"}}',
  'no table': '{"dependencies":["a"]}',
  'an override by address': '{"dependencies":{"a":"1"},"overrides":{"b":{"c":"http://x"}}}',
  workspaces: '{"dependencies":{"a":"1"},"workspaces":["../x"]}',
}))
  test(`package.json: ${what} is refused`, () => {
    assert.throws(() => packageToInstall(text), BuildError);
  });

const lockOf = (packages: object, lockfileVersion = 3) => JSON.stringify({ lockfileVersion, packages });

test('the lock of nodejs has hashes and no addresses', () => {
  const entry = { version: '1.0.0', resolved: 'https://user:word@x/a.tgz', integrity: 'sha512-x' };
  const lock = portableLock(
    lockOf({ '': { dependencies: { a: '1' }, scripts: {} }, 'node_modules/a': entry }),
  );
  assert.deepEqual((JSON.parse(lock) as { packages: object }).packages, {
    '': { name: 'function', version: '0.0.0', dependencies: { a: '1' } },
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-x' },
  });
});

const one = { version: '1.0.0', integrity: 'sha512-x' };

for (const [what, packages] of Object.entries({
  'no hash': { 'node_modules/a': { version: '1.0.0', resolved: 'https://x/a.tgz' } },
  'a repository': { 'node_modules/a': { resolved: 'git+ssh://x', integrity: 'sha512-x' } },
  'a link': { 'node_modules/a': { resolved: '../x', link: true } },
  'another folder': { '../a': { integrity: 'sha512-x' } },
  'a folder above': { 'node_modules/../../a': { integrity: 'sha512-x' } },
  'an address in place of a version': {
    'node_modules/a': { version: 'https://x/a.tgz', integrity: 'sha512-x' },
  },
  'no version': { 'node_modules/a': { integrity: 'sha512-x' } },
  'an address in place of a name': { 'node_modules/a': { ...one, name: 'a@https://x/a.tgz' } },
  'a dependency by address': { 'node_modules/a': { ...one, dependencies: { b: 'git+ssh://x/y' } } },
  'an optional dependency by folder': { 'node_modules/a': { ...one, optionalDependencies: { b: '..' } } },
  'a bundled package outside of a bundle': { 'node_modules/a': { version: '1.0.0', inBundle: true } },
  'an invalid hash': { 'node_modules/a': { ...one, integrity: 'x' } },
  'no entry': { 'node_modules/a': 1 },
}))
  test(`package-lock.json: ${what} is refused`, () => {
    assert.throws(() => portableLock(lockOf(packages)), BuildError);
  });

test('package-lock.json with lockfileVersion 1 is rejected', () => {
  assert.throws(() => portableLock(lockOf({}, 1)), /lockfileVersion 2 or 3/);
});

for (const line of ['a;$python', '-a==1', 'a-==1', 'a[b,!]==1', 'a (>=12', 'a>>=1)', 'a[bc', 'a[b]]'])
  test(`requirements.txt: ${line} is refused, with that line`, () => {
    assert.throws(() => requirementLines(`b\n${line}`), {
      message: `requirements.txt: ${JSON.stringify(line)} is rejected: a line may be the name of a package with versions, markers and --hash, but no option, file or address`,
    });
  });

test('requirements.txt must not have lines of more than 20,000 characters, and errors show 200 characters of a line', () => {
  const line = (length: number) => `a==${'1'.repeat(length - 3)}`;
  assert.deepEqual(requirementLines(line(20_000)), [line(20_000)]);
  assert.throws(() => requirementLines(line(20_001)), BuildError);
  const shown = (text: string) => new RegExp(`^requirements.txt: "${text}" is rejected`);
  const refused = (length: number) => () => requirementLines(`-${'x'.repeat(length - 1)}`);
  assert.throws(refused(200), { message: shown(`-${'x'.repeat(199)}`) });
  assert.throws(refused(201), { message: shown(`-${'x'.repeat(199)}…`) });
  assert.deepEqual(requirementLines('a [b] ==1'), ['a [b] ==1']);
});

test('errors about package.json name the rejected value and its place', () => {
  const given = (overrides: unknown) => JSON.stringify({ dependencies: { a: '1' }, overrides });
  const nested = (levels: number): object => (levels === 0 ? { b: '1' } : { b: nested(levels - 1) });
  for (const [text, why] of [
    ['{', /^package\.json is not JSON: /],
    [given({ b: 'http://x' }), /^package\.json: overrides has b as "http:\/\/x": /],
    [given({ a: { b: 'http://x' } }), /^package\.json: overrides\.a has b as /],
    [given('latest'), /^package\.json: overrides cannot be read$/],
    [given({ b: ['$a'] }), /^package\.json: overrides has b as \["\$a"\]: /],
    [given(nested(21)), /^package\.json: overrides(\.b){21} cannot be read$/],
    [given({ b: `http://${'x'.repeat(300)}` }), /has b as "http:\/\/x{192}: only/],
  ] as const)
    assert.throws(() => packageToInstall(text), { message: why });
  assert.ok(packageToInstall(given(nested(20))));
});

test('an invalid entry of package-lock.json, or one with a list of addresses, is rejected, and the lock is kept as text', () => {
  for (const [entry, why] of [
    [null, /^package-lock\.json: "node_modules\/a" cannot be read$/],
    [{ ...one, resolved: ['https://x/a.tgz'] }, /is not a package of a registry/],
  ] as const)
    assert.throws(() => portableLock(lockOf({ 'node_modules/a': entry })), { message: why });
  assert.match(portableLock(lockOf({ 'node_modules/a': one })), /^\{\n "name": "function",\n/);
});
