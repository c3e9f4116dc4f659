/**
 * `ctl` exec, attach and port-forward: the same arguments and the same results as kubectl 1.32 on one server.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { compileCache } from '../../fixtures/compile-cache.ts';
import { noHome } from '../../fixtures/ctl.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { kubectlOf, unlessKubectl } from '../../fixtures/kubectls.ts';
import { type StreamCluster, startStreamCluster } from './stream-cluster.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const megabytes = randomBytes(3_000_000);
const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const ctl = [process.execPath, main, 'ctl'];
const kubectl = kubectlOf('1.32')?.path;

/**
 * kubectl 1.32 begins to read before it has created its streams. It then drops the empty first message, which
 * every kubelet sends, and logs that on a busy machine.
 */
const tooEarly = /^E.*\] Unknown stream id \d, discarding message\n/gm;

interface Finished {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

async function until(what: string, condition: () => boolean): Promise<void> {
  const deadline = AbortSignal.timeout(120_000);
  while (!condition()) {
    if (deadline.aborted) throw new Error(`waited in vain for ${what}`);
    await new Promise((done) => setTimeout(done, 10));
  }
}

describe('ctl streams', { timeout: 300_000 }, () => {
  let cluster: StreamCluster;
  let env: Record<string, string>;

  before(async () => {
    cluster = await startStreamCluster();
    env = {
      KUBECONFIG: await cluster.server.kubeconfigFor('admin', ['system:masters']),
      HOME: noHome,
      PATH: process.env.PATH ?? '',
      ...compileCache,
    };
    const ports = [{ port: 80, targetPort: 8080 }];
    for (const [name, app] of [
      ['front', 'web'],
      ['nobody', 'none'],
    ] as const) {
      await cluster.server.call('POST', '/api/v1/namespaces/default/services', {
        metadata: { name },
        spec: { selector: { app }, ports },
      });
    }
    const web = '/api/v1/namespaces/default/pods/web';
    const pod = (await cluster.server.call('GET', web)).json<{ metadata: object }>();
    const labels = { app: 'web' };
    const told = await cluster.server.call('PUT', web, { ...pod, metadata: { ...pod.metadata, labels } });
    assert.equal(told.status, 200, told.text);
  });
  after(() => cluster.stop());

  const start = (program: readonly string[], args: readonly string[]) => {
    const [file = '', ...first] = program;
    const child = spawn(file, [...first, ...args], { env, stdio: 'pipe', timeout: 120_000 });
    // The child may exit before it has read everything.
    child.stdin.on('error', () => undefined);
    return child;
  };

  async function run(
    program: readonly string[],
    args: readonly string[],
    input: Uint8Array | string = '',
  ): Promise<Finished> {
    const child = start(program, args);
    child.stdin.end(input);
    const outputs = Promise.all([buffer(child.stdout), buffer(child.stderr)]);
    const [code] = (await once(child, 'close')) as [number | null];
    const [stdout, stderr] = await outputs;
    return { code, stdout, stderr: stderr.toString() };
  }

  /** Returns a function that returns the output so far, both standard output and standard error. */
  function said(child: ChildProcess): () => string {
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (text += chunk));
    return () => text;
  }

  for (const args of [
    ['exec', 'web', '--', 'fail'],
    ['exec', 'pod/web', '-c', 'main', '--', 'fail'],
    ['exec', 'service/front', '--', 'fail'],
    ['exec', '-i', 'web', '--', 'copy'],
    ['exec', '-t', 'web', '--', 'fail'],
    ['exec', '-it', 'web', '--', 'fail'],
    ['exec', '-qit', 'web', '--', 'fail'],
    ['exec', 'web', '--', 'absent'],
    ['exec', 'nosuch', '--', 'fail'],
    ['exec', 'web', '-c', 'none', '--', 'fail'],
    ['exec', 'two', '--', 'fail'],
    ['exec', 'two', '-q', '--', 'fail'],
    ['exec', 'unbound', '--', 'fail'],
    ['exec', 'service/nobody', '--pod-running-timeout=1s', '--', 'fail'],
    ['attach', 'web', '-c', 'none'],
    ['attach', 'nosuch'],
    ['attach', 'two'],
    ['attach', '-t', 'two', '-c', 'b'],
    ['port-forward', 'web', 'http'],
    ['port-forward', 'nosuch', '80'],
    ['port-forward', 'unbound', '80'],
    ['port-forward', 'svc/front', '81'],
    ['port-forward', 'svc/front', 'http'],
  ]) {
    const skip = unlessKubectl('1.32');
    it(`print and return the same as kubectl 1.32: ${args.join(' ')}`, { skip }, async () => {
      const theirs = await run([kubectl ?? ''], args, 'input');
      const stderr = theirs.stderr.replace(tooEarly, '');
      assert.deepEqual(await run(ctl, args, 'input'), { ...theirs, stderr });
    });
  }

  it('report wrong arguments with status 1', async () => {
    for (const [args, message] of [
      [['exec', 'web'], 'you must specify at least one command for the container'],
      [['exec', '--', 'x'], 'pod, type/name or --filename must be specified'],
      [['exec', 'web', 'ls'], 'Use exec [POD] -- [COMMAND] instead'],
      [['port-forward', 'web'], 'list of ports are required'],
      [['port-forward', 'web', '1:2:3'], 'invalid port format'],
      [['port-forward', 'web', '80', '--address=here'], 'here is not a valid IP'],
    ] as const) {
      const { code, stderr } = await run(ctl, args);
      assert.equal(code, 1, stderr);
      assert.match(stderr, /^error: [^\n]*\n$/);
      assert.ok(stderr.includes(message), stderr);
    }
  });

  it('exec carries megabytes both ways, and the end of input', async () => {
    const { code, stdout, stderr } = await run(ctl, ['exec', '-i', 'web', '--', 'copy'], megabytes);
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(sha256(stdout), sha256(megabytes));
  });

  it('exec ends with a program that does not read its input', async () => {
    const { code, stdout } = await run(ctl, ['exec', '-i', 'web', '--', 'fail'], megabytes);
    assert.deepEqual([code, stdout.toString()], [3, 'out\n']);
  });

  it('exec that is interrupted ends the program', async () => {
    const child = start(ctl, ['exec', 'web', '--', 'wait']);
    await until('the program', () => cluster.running() === 1);
    child.kill('SIGINT');
    assert.deepEqual(await once(child, 'exit'), [130, null]);
    await until('its end', () => cluster.running() === 0);
  });

  it('exec passes on the size of the terminal and its changes, and restores the terminal', async () => {
    const flag = join(cluster.server.directory, 'resize');
    const quoted = [...ctl, 'exec', '-it', 'web', '--', 'resized'].map((word) => `'${word}'`).join(' ');
    const resize = `(until [ -e ${flag} ]; do sleep 0.05; done; stty rows 40 cols 90 </dev/tty) &`;
    const script = `stty rows 33 cols 77; ${resize} ${quoted}; echo status $?; wait; stty -a`;
    const child = start(['script', '-qec', script, '/dev/null'], []);
    const text = said(child);
    await until(`the first size: ${text()}`, () => cluster.sizes.includes('77x33'));
    await writeFile(flag, '');
    await once(child, 'close');
    assert.ok(cluster.sizes.includes('90x40'), cluster.sizes.join(' '));
    assert.match(text(), /status 5\r/);
    assert.match(text(), / icanon/);
    assert.match(text(), / echo /);
  });

  it('Ctrl-C in a terminal is passed to the program', async () => {
    const quoted = [...ctl, 'exec', '-it', 'web', '--', 'keys'].map((word) => `'${word}'`).join(' ');
    const child = start(['script', '-qec', `${quoted}; echo status $?`, '/dev/null'], []);
    const text = said(child);
    await until('the program', () => cluster.running() === 1);
    child.stdin.write('\x03');
    await until('its answer', () => text().includes('<\x03>'));
    child.stdin.write('q');
    await once(child, 'close');
    assert.match(text(), /<q>command terminated with exit code 6\r\nstatus 6\r/);
  });

  it('attach joins a program both ways', async () => {
    const child = start(ctl, ['attach', '-i', 'web']);
    const text = said(child);
    child.stdin.write('a word\n');
    await until('its answer', () => text().includes('a word\n'));
    assert.match(text(), /^If you don't see a command prompt, try pressing enter\.\n/);
    child.kill('SIGINT');
    await once(child, 'exit');
  });

  /** Sends bytes to a port of this machine and returns the bytes that are received until the end. */
  async function echo(port: number, sent: Uint8Array, host = '127.0.0.1'): Promise<Buffer> {
    const socket = connect({ port, host, allowHalfOpen: true });
    await once(socket, 'connect');
    socket.end(sent);
    return buffer(socket);
  }

  const portIn = (text: string) => Number(/127\.0\.0\.1:(\d+) -> 8080/.exec(text)?.[1] ?? 0);

  it('port-forward carries concurrent connections, also to a Service, until it is interrupted', async () => {
    for (const target of ['pod/web', 'svc/front']) {
      const child = start(ctl, ['port-forward', target, target === 'pod/web' ? ':8080' : ':80']);
      const text = said(child);
      await until('a port', () => portIn(text()) > 0);
      const port = portIn(text());
      assert.match(text(), new RegExp(`^Forwarding from 127.0.0.1:${port} -> 8080\n`));
      const sent = [0, 1, 2, 3, 4].map((index) => megabytes.subarray(index * 400_000));
      const got = await Promise.all(sent.map((bytes) => echo(port, bytes)));
      assert.deepEqual(got.map(sha256), sent.map(sha256));
      assert.equal(text().match(new RegExp(`Handling connection for ${port}\n`, 'g'))?.length, 5);
      child.kill('SIGINT');
      assert.deepEqual(await once(child, 'exit'), [0, null]);
    }
  });

  for (const program of [ctl, ...(kubectl === undefined ? [] : [[kubectl]])]) {
    it(`port-forward outlives clients that break off (${program === ctl ? 'ctl' : 'kubectl'})`, async () => {
      const child = start(program, ['port-forward', 'web', ':8080']);
      const text = said(child);
      await until('a port', () => portIn(text()) > 0);
      for (let round = 0; round < 3; round++) {
        const socket = connect(portIn(text()), '127.0.0.1');
        await once(socket, 'connect');
        socket.write('x');
        await Promise.race([once(socket, 'data'), once(child, 'exit')]);
        socket.resetAndDestroy();
      }
      assert.equal((await echo(portIn(text()), Buffer.from('still'))).toString(), 'still');
      child.kill('SIGINT');
      await once(child, 'exit');
      assert.doesNotMatch(text(), /lost connection|error occurred/);
    });
  }

  it('port-forward reports that no server listens, and ends as kubectl does', async () => {
    const local = await freePort();
    const child = start(ctl, ['port-forward', 'web', `${local}:8081`]);
    const text = said(child);
    await until('the port', () => text().includes(`127.0.0.1:${local}`));
    await echo(local, Buffer.from('x')).catch(() => undefined);
    const [code] = await once(child, 'close');
    assert.equal(code, 1);
    const [, ...errors] = text().split(/(?=^error: )/m);
    assert.equal(errors.length, 2, text());
    assert.match(
      errors[0] ?? '',
      new RegExp(`an error occurred forwarding ${local} -> 8081: .*port 8081: Connection refused`),
    );
    assert.equal(errors[1], 'error: lost connection to pod\n');
  });

  it('port-forward continues with the ports that it can open', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const taken = (other.address() as { port: number }).port;
    const args = ['port-forward', 'web', '--address', '127.0.0.1', `${taken}:8080`];
    const none = await run(ctl, args);
    assert.deepEqual(
      [none.code, none.stderr],
      [
        1,
        `Unable to listen on port ${taken}: 127.0.0.1:${taken}: address already in use\n` +
          `error: unable to listen on any of the requested ports: [{${taken} 8080}]\n`,
      ],
    );
    const child = start(ctl, [...args, ':8080']);
    const text = said(child);
    await until('the other port', () => portIn(text()) > 0);
    assert.equal((await echo(portIn(text()), Buffer.from('x'))).toString(), 'x');
    child.kill('SIGINT');
    await once(child, 'exit');
    other.close();
  });

  it('a lost connection is reported in one line', async () => {
    const exec = start(ctl, ['exec', '-i', 'web', '--', 'wait']);
    const forward = start(ctl, ['port-forward', 'web', ':8080']);
    const texts = [said(exec), said(forward)] as const;
    await until('both', () => cluster.running() === 1 && portIn(texts[1]()) > 0);
    const ends = Promise.all([once(exec, 'close'), once(forward, 'close')]);
    await cluster.stopAgent();
    assert.deepEqual(
      (await ends).map(([code]) => code),
      [1, 1],
    );
    assert.equal(texts[0](), 'error: the connection was lost before the command ended\n');
    assert.match(texts[1](), /\nerror: lost connection to pod\n$/);
  });
});
