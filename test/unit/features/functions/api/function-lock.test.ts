import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lockFault, maxLock } from '../../../../../src/features/functions/api/function-lock.ts';

const hash = `--hash=sha256:${'a'.repeat(64)}`;
const lockOf = (packages: object, more: object = {}) =>
  JSON.stringify({ name: 'function', lockfileVersion: 3, requires: true, packages, ...more });
const one = { version: '1.0.0-rc.1', integrity: 'sha512-ab+/=' };

describe('a lock', () => {
  it('for python has names, versions and hashes', () => {
    for (const lock of ['\n', `a==1 ${hash}\n`, `A.b-c==1!2.0+x.1 ${hash} ${hash}\nd==2 ${hash}\n`])
      assert.equal(lockFault('python', lock), undefined, lock);
  });
  for (const line of [
    '--index-url https://x',
    '--extra-index-url=https://x',
    '-e .',
    '-r /etc/passwd',
    'https://x/a.whl',
    `a @ https://x/a.whl ${hash}`,
    'a==1',
    `a>=1 ${hash}`,
    `a==1 ${hash} --config-settings=x=y`,
    `a==1 ${hash} \\`,
    `a==1 ${hash}\r--index-url https://x`,
    `a==1 ${hash}\u2028-e .`,
    `a==1 ; python_version<"3" ${hash}`,
    '# a comment',
  ])
    it(`for python rejects ${JSON.stringify(line.slice(0, 40))}`, () =>
      assert.match(lockFault('python', `b==2 ${hash}\n${line}\n`) ?? '', /is not NAME==VERSION/));
  it('for nodejs has names, versions and hashes', () => {
    const packages = {
      '': { name: 'function', version: '0.0.0', dependencies: { a: '^1' } },
      'node_modules/a': {
        ...one,
        dependencies: { b: '>=1, <2' },
        bundleDependencies: ['b'],
        bin: { a: 'a.js' },
      },
      'node_modules/a/node_modules/@s/b': { version: '1.0.0', inBundle: true },
    };
    assert.equal(
      lockFault('nodejs', lockOf({ ...packages, '': { dependencies: { a: '^1 || 2' } } })),
      undefined,
    );
  });
  for (const [what, lock] of Object.entries({
    'no JSON': '{',
    'another key': lockOf({}, { dependencies: {} }),
    'an older version': lockOf({}, { lockfileVersion: 2 }),
    'an address': lockOf({ 'node_modules/a': { ...one, resolved: 'https://x/a.tgz' } }),
    'a link': lockOf({ 'node_modules/a': { ...one, link: true } }),
    'an address in place of a version': lockOf({ 'node_modules/a': { ...one, version: 'https://x/a.tgz' } }),
    'a repository below': lockOf({ 'node_modules/a': { ...one, dependencies: { b: 'user/b' } } }),
    'a repository at the root': lockOf({ '': { dependencies: { b: 'git+ssh://x/b' } } }),
    'a folder outside': lockOf({ 'node_modules/../../a': one }),
    'no hash': lockOf({ 'node_modules/a': { version: '1.0.0' } }),
    'too much': `${' '.repeat(maxLock)}{}`,
  }))
    it(`for nodejs rejects ${what}`, () => assert.notEqual(lockFault('nodejs', lock), undefined));
});
