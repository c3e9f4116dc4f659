/** `ctl cp` beside kubectl 1.32's, in both directions through a real tar. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { compileCache } from '../../fixtures/compile-cache.ts';
import { noHome } from '../../fixtures/ctl.ts';
import { kubectlOf, unlessKubectl } from '../../fixtures/kubectls.ts';
import { type StreamCluster, startStreamCluster } from './stream-cluster.ts';

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const kubectl = kubectlOf('1.32')?.path;

interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Returns names, types, sizes, permissions and checksums of everything in a directory. */
const contents = (directory: string) =>
  execFileSync(
    'sh',
    ['-c', "find . -printf '%P %y %s %m %l\\n' | sort; find . -type f -exec sha256sum {} + | sort"],
    {
      cwd: directory,
    },
  ).toString();

describe('ctl cp', { timeout: 300_000 }, () => {
  let cluster: StreamCluster;
  let env: Record<string, string>;
  let from: string;

  before(async () => {
    cluster = await startStreamCluster();
    const KUBECONFIG = await cluster.server.kubeconfigFor('admin', ['system:masters']);
    env = { KUBECONFIG, HOME: noHome, PATH: process.env.PATH ?? '', ...compileCache };
    from = join(cluster.server.directory, 'from');
    mkdirSync(join(from, 'empty'), { recursive: true });
    mkdirSync(join(from, 'in/it'), { recursive: true });
    writeFileSync(join(from, 'megabytes'), randomBytes(3_000_000));
    writeFileSync(join(from, 'in/it/script'), '#!/bin/sh\n', { mode: 0o755 });
    writeFileSync(join(from, 'in', 'x'.repeat(180)), 'long');
    writeFileSync(join(from, 'nothing'), '');
  });
  after(() => cluster.stop());

  const run = (file: string, args: readonly string[]) =>
    new Promise<Finished>((resolve) =>
      execFile(file, [...args], { env, timeout: 120_000 }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? 255) : 0, stdout, stderr }),
      ),
    );
  const ctl = (...args: string[]) => run(process.execPath, [main, 'ctl', 'cp', ...args]);
  const fresh = (name: string) => {
    const directory = join(cluster.server.directory, name);
    mkdirSync(directory);
    return directory;
  };
  const done = { code: 0, stdout: '', stderr: '' };

  it('copies a directory and a file to a container', async () => {
    const to = fresh('there');
    assert.deepEqual(await ctl(from, `web:${to}/new`), done);
    assert.equal(contents(join(to, 'new')), contents(from));
    // Copies into an existing directory.
    assert.deepEqual(await ctl(join(from, 'megabytes'), `default/web:${to}`, '-c', 'main'), done);
    assert.deepEqual(await ctl(join(from, 'megabytes'), `web:${to}/other`, '--no-preserve'), done);
    for (const name of ['megabytes', 'other']) {
      assert.equal(execFileSync('cmp', [join(from, 'megabytes'), join(to, name)]).toString(), '');
    }
  });

  it('copies a directory and a file from a container', async () => {
    const to = fresh('back');
    const told = await ctl(`web:${from}`, join(to, 'new'));
    assert.equal(told.code, 0, told.stderr);
    assert.equal(contents(join(to, 'new')), contents(from));
    assert.equal((await ctl(`web:${from}/megabytes`, join(to, 'other'))).code, 0);
    assert.equal((await ctl(`web:${from}/megabytes`, to)).code, 0);
    for (const name of ['megabytes', 'other']) {
      assert.equal(execFileSync('cmp', [join(from, 'megabytes'), join(to, name)]).toString(), '');
    }
  });

  /** Starts a proxy to the API server whose first connections break after a million bytes. */
  async function unsteady(breaks: number): Promise<{ port: number; close(): void }> {
    let left = breaks;
    const proxy = createServer((client) => {
      const server = connect(cluster.server.port, '127.0.0.1');
      for (const socket of [client, server]) socket.on('error', () => undefined);
      client.pipe(server).pipe(client);
      client.on('close', () => server.destroy());
      server.on('data', () => {
        if (left === 0 || client.destroyed || server.bytesRead < 1_000_000) return;
        left--;
        client.destroy();
      });
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    return { port: (proxy.address() as AddressInfo).port, close: () => proxy.close() };
  }

  for (const { breaks, retries, resumed, status } of [
    { breaks: 1, retries: 0, resumed: 0, status: 1 },
    { breaks: 2, retries: 2, resumed: 2, status: 0 },
    { breaks: 2, retries: -1, resumed: 2, status: 0 },
    { breaks: 2, retries: 1, resumed: 1, status: 1 },
  ]) {
    it(`${status === 0 ? 'succeeds' : 'fails'} with --retries=${retries} if connections break ${breaks} times`, async () => {
      const to = fresh(`retries-${breaks}-${retries}`);
      const proxy = await unsteady(breaks);
      try {
        const kubeconfig = join(to, 'config');
        const text = readFileSync(env.KUBECONFIG ?? '', 'utf8');
        writeFileSync(kubeconfig, text.replace(`:${cluster.server.port}`, `:${proxy.port}`));
        const args = [`web:${from}`, join(to, 'new'), `--retries=${retries}`, '--kubeconfig', kubeconfig];
        const { code, stderr } = await ctl(...args);
        assert.equal(code, status, stderr);
        assert.equal(stderr.match(/^Resuming copy at \d+ bytes, retry \d\/-?\d$/gm)?.length ?? 0, resumed);
        if (code === 0) assert.equal(contents(join(to, 'new')), contents(from));
        else assert.match(stderr, /^error: the connection was lost before the command ended$/m);
      } finally {
        proxy.close();
      }
    });
  }

  it('does not follow links out of the copied directory', async () => {
    const [source, to] = [fresh('links'), fresh('links-back')];
    symlinkSync('/etc', join(source, 'etc'));
    const { code, stderr } = await ctl(`web:${source}`, join(to, 'new'));
    assert.equal(code, 0);
    assert.match(stderr, /^warning: skipping symlink: ".*\/etc" -> "\/etc"$/m);
    assert.doesNotMatch(contents(to), /etc/);
  });

  it('of a missing path fails, and the error names path, container and pod', async () => {
    const to = fresh('missing');
    const stderr = 'error: there is no /minik8s-no-such-path in container main of pod web\n';
    assert.deepEqual(await ctl('web:/minik8s-no-such-path', to), { code: 1, stdout: '', stderr });
    assert.equal(existsSync(join(to, 'minik8s-no-such-path')), false);
  });

  it('of a link to a missing file copies nothing, with a warning, as kubectl does', async () => {
    const [source, to] = [fresh('dangling'), fresh('dangling-back')];
    symlinkSync('nowhere', join(source, 'link'));
    const { code, stderr } = await ctl(`web:${source}/link`, join(to, 'new'));
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^warning: skipping symlink: /m);
  });

  const tarSays = "tar: Removing leading `/' from member names\n";
  /** Log line of kubectl for data that arrives after kubectl has stopped reading. */
  const lateData = /^E\d{4} .* websocket\.go:\d+\] Unknown stream id 1, discarding message\n/gm;
  const skip = unlessKubectl('1.32');
  it('prints and copies the same as kubectl 1.32', { skip }, async () => {
    const [ours, theirs] = [fresh('ours'), fresh('theirs')];
    for (const args of [
      [from, 'web:DIR/all'],
      [join(from, 'megabytes'), 'web:DIR/one'],
      [join(from, 'megabytes'), 'web:DIR'],
      [from, 'web:DIR'],
      [join(from, 'nothing'), 'web:DIR/none/such'],
      [`web:${from}/megabytes`, 'DIR/copied'],
      [`web:${from}/in`, 'DIR/in'],
      [`nosuch:${from}`, 'DIR/never'],
      ['/nonexistent', 'web:DIR'],
      [from, 'two:DIR'],
    ]) {
      const inside = (directory: string) => args.map((word) => word.replace('DIR', directory));
      const [our, their] = [await ctl(...inside(ours)), await run(kubectl ?? '', ['cp', ...inside(theirs)])];
      // kubectl may exit as soon as it has the files, before it has printed tar's message about them.
      assert.equal(our.stderr.includes(tarSays), args[0]?.startsWith('web:/'), args.join(' '));
      assert.deepEqual(
        [our.code, our.stderr.replace(tarSays, '').replaceAll(ours, theirs)],
        [their.code, (their.stdout + their.stderr).replace(tarSays, '').replace(lateData, '')],
        args.join(' '),
      );
      assert.equal(our.stdout, '');
    }
    // kubectl creates the fetched files with permissions of its own.
    const withoutModes = (text: string) => text.replaceAll(/^(.* [fdl] \d+) \d+/gm, '$1');
    assert.equal(withoutModes(contents(ours)), withoutModes(contents(theirs)));
  });
});
