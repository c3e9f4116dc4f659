/**
 * kubectl's exec and port-forward in the protocols of its versions: SPDY/3.1, WebSocket, and SPDY/3.1 inside
 * WebSocket.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { kubectlsOf } from '../../fixtures/kubectls.ts';
import { type StreamCluster, startStreamCluster } from './stream-cluster.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const megabytes = randomBytes(3_000_000);

/** Sends bytes to a port of this machine and returns the bytes that are received until the end. */
async function echo(port: number, sent: Uint8Array): Promise<Buffer> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  socket.end(sent);
  return buffer(socket);
}

/** Returns the port that kubectl prints. */
async function forwardedPort(child: ChildProcess): Promise<number> {
  let text = '';
  // kubectl continues to print, and exits when it cannot.
  for await (const chunk of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    text += chunk;
    const port = /127\.0\.0\.1:(\d+) ->/.exec(text)?.[1];
    if (!port) continue;
    child.stdout?.resume();
    return Number(port);
  }
  throw new Error(`kubectl forwards nothing: ${text}`);
}

describe('kubectl streams', () => {
  let cluster: StreamCluster;
  let kubeconfig: string;

  before(async () => {
    cluster = await startStreamCluster();
    kubeconfig = await cluster.server.kubeconfigFor('admin', ['system:masters']);
  });
  after(() => cluster.stop());

  for (const { version, path } of kubectlsOf(['1.27', '1.29', '1.30', '1.31', '1.32', '1.33'])) {
    const kubectl = (args: readonly string[], input?: Uint8Array) =>
      new Promise<{ code: number; stdout: Buffer; stderr: string }>((resolve) => {
        const options = { encoding: 'buffer', maxBuffer: 10_000_000, timeout: 120_000 } as const;
        const child = execFile(
          path,
          ['--kubeconfig', kubeconfig, ...args],
          options,
          (error, stdout, stderr) =>
            resolve({ code: error ? Number(error.code ?? 255) : 0, stdout, stderr: stderr.toString() }),
        );
        // kubectl may exit before it has read everything.
        child.stdin?.on('error', () => undefined);
        child.stdin?.end(input);
      });

    const forward = (port: number) =>
      spawn(path, ['--kubeconfig', kubeconfig, 'port-forward', 'pod/web', `0:${port}`], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });

    it(`kubectl ${version}: exec shows outputs and exit status`, async () => {
      const { code, stdout, stderr } = await kubectl(['exec', 'web', '--', 'fail']);
      assert.deepEqual(
        [code, stdout.toString(), stderr],
        [3, 'out\n', 'err\ncommand terminated with exit code 3\n'],
      );
    });

    it(`kubectl ${version}: exec carries megabytes both ways, and the end of input`, async () => {
      const { code, stdout } = await kubectl(['exec', '-i', 'web', '--', 'copy'], megabytes);
      assert.equal(code, 0);
      assert.equal(sha256(stdout), sha256(megabytes));
    });

    it(`kubectl ${version}: exec ends with a program that does not read its input`, async () => {
      const { code, stdout } = await kubectl(['exec', '-i', 'web', '--', 'fail'], megabytes);
      assert.deepEqual([code, stdout.toString()], [3, 'out\n']);
    });

    it(`kubectl ${version}: exec takes a command of 300 KB`, async () => {
      const words = Array.from({ length: 5 }, (_, index) => `${index}%`.repeat(30_000));
      const { code, stdout, stderr } = await kubectl(['exec', 'web', '--', 'words', ...words]);
      assert.deepEqual(
        [code, stdout.toString()],
        [0, sha256(Buffer.from(words.join(' ')))],
        stderr.slice(0, 500),
      );
    });

    it(`kubectl ${version}: exec prints why it is refused`, async () => {
      const { code, stderr } = await kubectl(['exec', 'web', '-c', 'none', '--', 'fail']);
      assert.deepEqual(
        [code, stderr],
        [1, 'Error from server (BadRequest): container none is not valid for pod web\n'],
      );
      assert.match((await kubectl(['exec', 'web', '--', 'absent'])).stderr, /no program absent/);
    });

    it(`kubectl ${version}: port-forward carries concurrent connections`, async () => {
      const child = forward(8080);
      try {
        const port = await forwardedPort(child);
        const sent = [0, 1, 2, 3, 4].map((index) => megabytes.subarray(index * 400_000));
        const got = await Promise.all(sent.map((bytes) => echo(port, bytes)));
        assert.deepEqual(got.map(sha256), sent.map(sha256));
      } finally {
        child.kill();
        await once(child, 'exit');
      }
    });

    it(`kubectl ${version}: port-forward reports that no server listens`, async () => {
      const child = forward(8081);
      let said = '';
      child.stderr.on('data', (chunk) => (said += chunk));
      try {
        const port = await forwardedPort(child);
        // kubectl closes the connection.
        await assert.rejects(async () => assert.notEqual((await echo(port, Buffer.from('x'))).length, 0));
        const deadline = AbortSignal.timeout(120_000);
        while (!/connect to port 8081: Connection refused/.test(said)) {
          deadline.throwIfAborted();
          await new Promise((done) => setTimeout(done, 10));
        }
      } finally {
        child.kill();
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      }
    });
  }
});
