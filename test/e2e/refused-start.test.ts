import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemExec } from '../../src/os/exec.ts';
import { troubleText } from '../fixtures/troubleshooting.ts';
import { Cluster, executable } from './harness/cluster.ts';
import { type End, endOf } from './harness/end-of.ts';
import { Host } from './harness/host.ts';
import { processesNaming } from './harness/processes.ts';

/** Asserts that the start failed with one line that matches all of these. */
function assertOneLine({ code, stdout, stderr }: End, ...says: RegExp[]): void {
  assert.match(stderr, /^error: [^\n]+\n$/);
  for (const expected of says) assert.match(stderr, expected);
  assert.equal(code, 1);
  assert.equal(stdout, '');
}

/** Starts an engine that answers with the given status and body. */
function answering(socket: string, status: number, body: unknown) {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  return new Promise<typeof server>((resolve) => server.listen(socket, () => resolve(server)));
}

test('minik8s up reports in one line why it cannot start, and leaves nothing behind', async (context) => {
  const host = await Host.start(context, { docker: false });
  const dataDir = join(host.directory, 'data');
  const up = (flags: Readonly<Record<string, string>> = {}) => {
    const all = { 'data-dir': dataDir, ...flags };
    const args = Object.entries(all).map(([name, value]) => `--${name}=${value}`);
    return endOf(host.command(executable, ['up', ...args]));
  };

  await context.test('a start without Docker fails', async () => {
    const socket = join(host.directory, 'none.sock');
    assertOneLine(await up({ 'docker-socket': socket }), /no Docker/, /none\.sock/, /start it .*dockerd/);
  });

  await context.test('a start fails if the engine is too old or is not Docker', async () => {
    const socket = join(host.directory, 'old.sock');
    const old = await answering(socket, 200, { Version: '17.06.0-ce', ApiVersion: '1.30' });
    const refused = await up({ 'docker-socket': socket });
    old.close();
    assertOneLine(refused, /Docker 17\.06\.0-ce is too old/, /needs .*Docker 20\.10.* or newer/);
    const other = await answering(socket, 200, ['hello']);
    const alsoRefused = await up({ 'docker-socket': socket });
    other.close();
    assertOneLine(alsoRefused, /old\.sock is not a Docker engine/, /--docker-socket/);
    const broken = await answering(socket, 500, { message: 'no' });
    const refusedAgain = await up({ 'docker-socket': socket });
    broken.close();
    assertOneLine(refusedAgain, /old\.sock answers with 500/);
  });

  await context.test('a start fails if the data directory is read-only', async () => {
    const readOnly = join(host.directory, 'read-only');
    mkdirSync(readOnly);
    await systemExec('mount', ['-t', 'tmpfs', '-o', 'ro,size=64k', 'tmpfs', readOnly]);
    assertOneLine(await up({ 'data-dir': readOnly }), /read-only/, /EROFS/, /--data-dir/);
    assertOneLine(await up({ 'data-dir': join(readOnly, 'below') }), /below/, /EROFS/, /--data-dir/);
    const file = join(host.directory, 'file');
    writeFileSync(file, '');
    assertOneLine(await up({ 'data-dir': file }), /host-.*file/, /--data-dir/);
  });

  await context.test('a start fails if the disk of the data directory is full', async () => {
    const small = join(host.directory, 'small');
    mkdirSync(small);
    await systemExec('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small]);
    assertOneLine(await up({ 'data-dir': small }), /small\/bin\/etcd/, /ENOSPC|no space/i, /space/);
    assert.deepEqual(readdirSync(join(small, 'bin/etcd')), []);
  });

  for (const [flag, port, address] of [
    ['port', '6443', '0.0.0.0'],
    ['kubelet-port', '10250', '127.0.0.1'],
  ] as const) {
    await context.test(`a start fails if another program uses port ${port}`, async () => {
      const free = await host.take(port);
      const refused = await up();
      await free();
      assertOneLine(refused, new RegExp(`port ${port} of ${address} is taken`), new RegExp(`--${flag}`));
    });
  }

  await context.test('a start fails if a DNS server listens on all addresses', async () => {
    const engine = await Host.start(context, { images: [] });
    const free = await engine.take('53');
    const ownData = join(engine.directory, 'minik8s');
    const flags = ['--data-dir', ownData, '--docker-socket', engine.dockerSocket];
    const { code, stderr } = await endOf(engine.command(executable, ['up', ...flags]));
    await free();
    assert.equal(code, 1);
    assert.match(stderr, troubleText('configure that process to listen'));
    assert.match(stderr, /^error: port 53 of 169\.254\.20\.10 [^\n]+\n$/m);
    assert.deepEqual(processesNaming(ownData), []);
  });

  await context.test(
    'a start fails if the pod range overlaps with the machine’s or the Services’ addresses',
    async () => {
      const own = `${host.address.split('.').slice(0, 2).join('.')}.0.0/16`;
      const refused = await up({ 'cluster-cidr': own });
      assertOneLine(refused, new RegExp(`address ${host.address} .* lies in cluster-cidr ${own}`));
      for (const role of ['up', 'master']) {
        const flags = ['--data-dir', dataDir, '--service-cidr', '10.244.0.0/24'];
        const { code, stderr } = await endOf(host.command(executable, [role, ...flags]));
        assert.equal(code, 2);
        assert.match(stderr, /^error: cluster-cidr .* and service-cidr .* overlap; [^\n]+\n$/);
      }
    },
  );

  await context.test('a start with invalid settings ends with status 2', async () => {
    const { code, stderr } = await up({ port: 'http' });
    assert.deepEqual([code, stderr], [2, 'error: --port: "http": expected a whole number from 1 to 65535\n']);
    writeFileSync(join(host.directory, 'bad.yaml'), 'port: [\n');
    const file = await up({ config: join(host.directory, 'bad.yaml') });
    assert.equal(file.code, 2);
    assert.match(file.stderr, /^error: .*bad\.yaml: not YAML[^\n]*\n$/);
    const key = await up({ 'etcd-endpoints': 'https://127.0.0.1:1', 'etcd-key': '/dev/null' });
    assert.deepEqual([key.code, key.stderr.split('\n').length], [2, 2]);
    assert.match(key.stderr, /--etcd-cert and --etcd-key belong together/);
  });

  await context.test('no process of a failed start is left', () => {
    assert.deepEqual(host.processes(), []);
  });
});

test('only one minik8s can use a data directory', async (context) => {
  const host = await Host.start(context, { images: [] });
  const cluster = await Cluster.start(context, { host });
  const { pid } = cluster;
  const second = await endOf(cluster.command());
  assertOneLine(second, new RegExp(`process id ${pid}`), /stop it or give another --data-dir/);
  const master = await endOf(host.command(executable, ['master', '--data-dir', cluster.dataDir]));
  assertOneLine(master, new RegExp(`process id ${pid}`));
  const other = ['--data-dir', join(host.directory, 'other'), '--docker-socket', host.dockerSocket];
  const third = await endOf(
    host.command(executable, ['up', ...other, '--port', '7443', '--kubelet-port', '7250']),
  );
  const node = new RegExp(
    `another minik8s runs as a node on this machine with process id ${pid}; stop it first`,
  );
  assertOneLine(third, node);
  const reset = await endOf(host.command(executable, ['reset', '--yes', ...other]));
  assertOneLine(reset, node);
  assert.equal((await cluster.kubectl.attempt(['get', 'nodes'])).code, 0);
  assert.equal(cluster.processes('etcd').length, 1);
});
