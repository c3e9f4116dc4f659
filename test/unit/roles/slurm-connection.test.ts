import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storedLengths } from '../../../src/roles/slurm/cluster-store.ts';
import { connectionOf } from '../../../src/roles/slurm/connection-files.ts';

const whole = { host: 'login.example\n', user: 'me', password: ' p w \n', knownHosts: 'ssh-ed25519 AAAA\n' };
const read = (texts: Readonly<Record<string, string>>) => connectionOf(new Map(Object.entries(texts)));

describe('the Secret of a connection', () => {
  it('says how the host is reached; only the end of the last line is not its own', () => {
    assert.deepEqual(read(whole), {
      host: 'login.example',
      port: 22,
      user: 'me',
      password: ' p w ',
      knownHosts: 'ssh-ed25519 AAAA\n',
    });
    const { password: _, ...rest } = whole;
    const key = read({ ...rest, privateKey: 'KEY\n', passphrase: 'x', port: '2222' });
    assert.deepEqual(key, {
      host: 'login.example',
      port: 2222,
      user: 'me',
      privateKey: 'KEY\n',
      passphrase: 'x',
      knownHosts: 'ssh-ed25519 AAAA\n',
    });
  });
  it('says what is missing or wrong, and nothing that stands in it', () => {
    assert.match(String(read({})), /is not there/);
    for (const key of ['host', 'user', 'knownHosts'])
      assert.equal(read({ ...whole, [key]: '\n' }), `the Secret has no ${key}`);
    assert.equal(read({ ...whole, password: '' }), 'the Secret has neither privateKey nor password');
    assert.match(String(read({ ...whole, port: '0x16' })), /^port of the Secret must be a number/);
    assert.match(String(read({ ...whole, port: '70000' })), /^port of the Secret must be a number/);
    assert.match(String(read({ ...whole, host: 'a b' })), /^host of the Secret must be/);
  });
});

it('a file is as long as its pieces are without a gap', () => {
  const piece = (path: string, offset: number, length: number) => ({
    kind: 'Output' as const,
    path,
    offset,
    length,
  });
  const found = storedLengths([
    piece('a', 3, 2),
    piece('a', 0, 3),
    piece('b', 0, 1),
    piece('b', 2, 5),
    piece('c', 1, 1),
  ]);
  assert.deepEqual(found, [
    { kind: 'Output', path: 'a', length: 5 },
    { kind: 'Output', path: 'b', length: 1 },
    { kind: 'Output', path: 'c', length: 0 },
  ]);
});
