/** `ctl diff`: what it shows, its exit status, and what it leaves on the machine and the server. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { apply } from '../../../../src/cli/commands/apply.ts';
import { diff } from '../../../../src/cli/commands/diff.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const core = '/api/v1/namespaces/default';

const configMap = (name: string, v: string, more: object = {}) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...more }, data: { v } });

describe('ctl diff', () => {
  let world: VerbWorld;
  let directory: string;
  let temporary: string;
  before(async () => {
    world = await startVerbWorld();
    directory = mkdtempSync(join(tmpdir(), 'minik8s-diff-'));
    temporary = join(directory, 'temporary');
    mkdirSync(temporary);
    for (const name of ['a', 'b'])
      await world.run(apply, ['-f', '-'], { stdin: configMap(name, 'first', { labels: { app: 'x' } }) });
  });
  after(async () => {
    await world.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  async function run(stdin: string, argv: readonly string[] = [], external?: string) {
    const env = {
      TMPDIR: temporary,
      PATH: '/usr/bin:/bin',
      ...(external && { KUBECTL_EXTERNAL_DIFF: external }),
    };
    const result = await world.run(diff, ['-f', '-', ...argv], { stdin, io: { env }, usesMachine: true });
    assert.deepEqual(readdirSync(temporary), [], 'no files are left');
    return result;
  }

  it('prints nothing and ends with 0 if nothing would change', async () => {
    const { status, out } = await run(configMap('a', 'first', { labels: { app: 'x' } }));
    assert.deepEqual([status, out], [0, '']);
  });

  it('ends with 1 for a change, shows the stored value before the new one, and stores nothing', async () => {
    const { status, out } = await run(configMap('a', 'second', { labels: { app: 'x' } }));
    assert.equal(status, 1);
    assert.match(out, /^--- .*\/LIVE\/v1\.ConfigMap\.default\.a\t/m);
    assert.match(out, /^\+\+\+ .*\/MERGED\/v1\.ConfigMap\.default\.a\t/m);
    assert.match(out, /^- {2}v: first\n\+ {2}v: second$/m);
    assert.doesNotMatch(out, /managedFields/);
    assert.deepEqual((await world.send('GET', `${core}/configmaps/a`)).data, { v: 'first' });
  });

  it('shows the values of a Secret only with --show-secrets', async () => {
    const secret = (value: string) =>
      JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { key: value } });
    await world.run(apply, ['-f', '-'], { stdin: secret('b2xk') });
    const masked = await run(secret('bmV3'));
    assert.match(masked.out, /^- {2}key: '\*\*\* \(before\)'\n\+ {2}key: '\*\*\* \(after\)'$/m);
    assert.doesNotMatch(masked.out, /b2xk|bmV3/);
    const shown = await run(secret('bmV3'), ['--show-secrets']);
    assert.match(shown.out, /^- {2}key: b2xk\n\+ {2}key: bmV3$/m);
    assert.deepEqual([masked.status, shown.status], [1, 1]);
  });

  it('shows every object of the input, also one that does not exist, which is not created', async () => {
    const { status, out } = await run(`${configMap('b', 'second')}\n---\n${configMap('new', 'x')}`);
    assert.equal(status, 1);
    assert.match(out, /^\+ {2}v: x$/m);
    assert.match(out, /^\+ {2}v: second$/m);
    await assert.rejects(world.send('GET', `${core}/configmaps/new`), /not found/);
  });

  it('hides the values of a Secret, and shows that they differ', async () => {
    const secret = (token: string) =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 's' },
        data: { same: 'c2FtZQ==', token: Buffer.from(token).toString('base64') },
      });
    await world.run(apply, ['-f', '-'], { stdin: secret('former') });
    const { status, out } = await run(secret('later'));
    assert.equal(status, 1);
    assert.match(out, /^- {2}token: '\*\*\* \(before\)'\n\+ {2}token: '\*\*\* \(after\)'$/m);
    for (const token of ['former', 'later', 'same'])
      assert.ok(!out.includes(Buffer.from(token).toString('base64')), token);
  });

  it('ends with 2 if an object cannot be compared, not with the status of a difference', async () => {
    const invalid = configMap('a', 'second', { labels: { app: 'not valid' } });
    const rejected = await run(invalid);
    assert.equal(rejected.status, 2);
    assert.match(rejected.err, /metadata\.labels/);
    const unnamed = await run('{"apiVersion":"v1","kind":"ConfigMap","metadata":{}}');
    assert.equal(unnamed.status, 2);
    assert.match(unnamed.err, /STDIN:1: .*metadata\.name/);
  });

  it('runs the program of KUBECTL_EXTERNAL_DIFF with its arguments, and fails with its failure', async () => {
    const program = join(directory, 'own-diff');
    writeFileSync(program, '#!/bin/sh\necho "$3" "$(ls "$1")" "$(ls "$2")"\nexit 0\n', { mode: 0o755 });
    const same = await run(configMap('new', 'x'), [], `${program} --flag`);
    assert.deepEqual([same.status, same.out], [0, '--flag  v1.ConfigMap.default.new\n']);
    writeFileSync(program, '#!/bin/sh\nexit 7\n');
    const failed = await run(configMap('a', 'second'), [], program);
    assert.equal(failed.status, 2);
    assert.match(failed.err, /own-diff ended with 7/);
    const missing = await run(configMap('a', 'second'), [], join(directory, 'none'));
    assert.equal(missing.status, 2);
    assert.match(missing.err, /ENOENT/);
  });

  it('shows what --prune would delete: the objects with the labels that are not in the input', async () => {
    const { status, out } = await run(configMap('a', 'first', { labels: { app: 'x' } }), [
      ...['--prune', '-l', 'app=x', '--prune-allowlist=core/v1/ConfigMap'],
    ]);
    assert.equal(status, 1);
    assert.match(out, /LIVE\/v1\.ConfigMap\.default\.b/);
    assert.doesNotMatch(out, /ConfigMap\.default\.a/);
  });

  it('shows managed fields on request, and the merge of the server with --server-side', async () => {
    const shown = await run(configMap('new', 'x'), ['--show-managed-fields']);
    assert.match(shown.out, /managedFields/);
    const server = await run(configMap('a', 'third', { labels: { app: 'x' } }), [
      ...['--server-side', '--force-conflicts'],
    ]);
    assert.match(server.out, /^- {2}v: first\n\+ {2}v: third$/m);
    const path = `${core}/configmaps/a?fieldManager=other`;
    await world.send('PATCH', path, { data: { v: 'own' } }, 'application/merge-patch+json');
    const conflict = await run(configMap('a', 'third'), ['--server-side']);
    assert.equal(conflict.status, 2);
    assert.match(conflict.err, /conflict/i);
  });
});
