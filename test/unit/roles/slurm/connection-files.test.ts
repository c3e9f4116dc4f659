import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import {
  followConnection,
  type MountedSecret,
  readConnection,
} from '../../../../src/roles/slurm/connection-files.ts';
import { RecordingLogger } from '../../../fixtures/recording-logger.ts';

function directoryOf(context: TestContext, files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-connection-files-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}
const files = { host: 'login\n', user: 'me', password: 'secret\n', knownHosts: 'ssh-ed25519 AAAA' };

it('readConnection returns the settings in the files', async (context) => {
  const read = await readConnection(directoryOf(context, { ...files, port: '2222' }));
  assert.ok(typeof read !== 'string', String(read));
  assert.deepEqual(
    [read.host, read.port, read.user, read.password, read.knownHosts],
    ['login', 2222, 'me', 'secret', 'ssh-ed25519 AAAA'],
  );
});

it('readConnection ignores the folders and links of the kubelet, whose names begin with a dot', async (context) => {
  const directory = directoryOf(context, files);
  mkdirSync(join(directory, '..2026_01_01'));
  writeFileSync(join(directory, '..data'), 'x');
  assert.ok(typeof (await readConnection(directory)) !== 'string');
});

it('readConnection returns the reason if the Secret lacks a required key or all keys', async (context) => {
  const none = 'the Secret is not there, or has no key of a connection';
  assert.equal(await readConnection(directoryOf(context, {})), none);
  assert.equal(await readConnection(directoryOf(context, { '..data': 'x' })), none);
  assert.equal(await readConnection('/proc/no-such-directory'), none);
  const { host: _, ...rest } = files;
  const reason = await readConnection(directoryOf(context, rest));
  assert.equal(reason, 'the Secret has no key host');
});

/** Follows the files of a directory whose changes the test reports. */
async function followed(context: TestContext, read: MountedSecret['read'] = readConnection) {
  const directory = directoryOf(context, files);
  const [watcher, news, log] = [new EventEmitter(), new EventEmitter(), new RecordingLogger()];
  const { signal } = new AbortController();
  const watch = (() => watcher) as unknown as MountedSecret['watch'];
  const connection = await followConnection(directory, log, signal, { read, watch });
  const hosts: string[] = [];
  connection.onChange((value) => {
    hosts.push(typeof value === 'string' ? value : value.host);
    news.emit('news');
  });
  return { directory, watcher, news, log, hosts };
}

it('followConnection reports each change of the settings once, and no unchanged files', async (context) => {
  const { directory, watcher, news, hosts } = await followed(context);
  writeFileSync(join(directory, 'host'), 'two');
  for (let i = 0; i < 5; i++) watcher.emit('change');
  await once(news, 'news');
  // The other events of the same change are processed while these reads go on.
  for (let i = 0; i < 30; i++) await readConnection(directory);
  assert.deepEqual(hosts, ['two']);
  rmSync(join(directory, 'host'));
  watcher.emit('change');
  await once(news, 'news');
  assert.deepEqual(hosts, ['two', 'the Secret has no key host']);
});

it('followConnection logs a watch that has failed and keeps the settings', async (context) => {
  const { watcher, log, hosts } = await followed(context);
  watcher.emit('error', new Error('no watch'));
  assert.deepEqual(log.of('warn')[0]?.fields, { error: 'no watch' });
  assert.deepEqual(hosts, []);
});

it('followConnection begins a read only after the previous one has ended, and continues after a failed read', async (context) => {
  const reads: ((host: string | Error) => void)[] = [];
  const read = async (directory: string) => {
    if (reads.length === 0) {
      reads.push(() => undefined);
      return readConnection(directory);
    }
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    reads.push((reason) => (reason instanceof Error ? reject(reason) : resolve(reason)));
    return promise;
  };
  const { watcher, log, hosts } = await followed(context, read);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  for (let i = 0; i < 3; i++) watcher.emit('change');
  await turn();
  assert.equal(reads.length, 2, 'one read goes on');
  reads[1]?.('the first reason');
  await turn();
  assert.deepEqual([reads.length, hosts], [3, ['the first reason']]);
  reads[2]?.(new Error('a file was removed'));
  await turn();
  assert.deepEqual(log.of('debug')[0]?.fields, { error: 'a file was removed' });
  reads[3]?.('the last reason');
  await turn();
  assert.deepEqual(hosts, ['the first reason', 'the last reason']);
});
