/** Streams of the JavaScript client of Kubernetes, unmodified: exec, attach, cp, port-forward and logs. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import {
  ApiException,
  Attach,
  Cp,
  Exec,
  KubeConfig,
  Log,
  type LogOptions,
  PortForward,
  type V1Status,
} from '@kubernetes/client-node';
import { systemClock } from '../../../src/base/clock.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { type StreamCluster, startStreamCluster } from './stream-cluster.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const megabytes = randomBytes(3_000_000);

/** An output that has the size of a terminal and can change it. */
class TerminalOutput extends PassThrough {
  rows = 24;
  columns = 80;

  resize(columns: number, rows: number): void {
    Object.assign(this, { columns, rows });
    this.emit('resize');
  }
}

describe('@kubernetes/client-node streams', { timeout: 300_000 }, () => {
  let cluster: StreamCluster;
  let config: KubeConfig;
  const namespace = 'default';

  before(async () => {
    cluster = await startStreamCluster();
    config = new KubeConfig();
    config.loadFromFile(await cluster.server.kubeconfigFor('admin', ['system:masters']));
  });
  after(() => cluster.stop());

  /** Runs a command in the container, and resolves with its status and outputs. */
  async function exec(command: readonly string[], stdin: PassThrough | null = null) {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const status = Promise.withResolvers<V1Status>();
    const outputs = Promise.all([buffer(stdout), text(stderr)]);
    const words = [...command];
    await new Exec(config).exec(namespace, 'web', 'main', words, stdout, stderr, stdin, false, (told) => {
      // The client does not end the outputs of a command that succeeds with nothing on stdout.
      for (const output of [stdout, stderr]) output.end();
      status.resolve(told);
    });
    const [out, err] = await outputs;
    return { out, err, status: await status.promise };
  }

  const exitCode = ({ details }: V1Status) =>
    details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;

  it('exec carries megabytes both ways, and the end of input', async () => {
    const stdin = new PassThrough();
    stdin.end(megabytes);
    const { out, err, status } = await exec(['copy'], stdin);
    assert.deepEqual([status.status, err], ['Success', '']);
    assert.equal(sha256(out), sha256(megabytes));
  });

  it('exec separates the outputs and reports the exit code', async () => {
    const { out, err, status } = await exec(['fail']);
    assert.deepEqual([String(out), err, exitCode(status)], ['out\n', 'err\n', '3']);
    assert.equal(status.reason, 'NonZeroExitCode');
  });

  it('exec is refused for a container that the pod does not have', async () => {
    const refused = new Exec(config).exec(namespace, 'web', 'none', ['copy'], null, null, null, false);
    await assert.rejects(refused, { message: 'Unexpected server response: 400' });
  });

  it('exec passes on the sizes of a terminal', async () => {
    const stdout = new TerminalOutput();
    const status = Promise.withResolvers<V1Status>();
    const command = ['resized'];
    await new Exec(config).exec(namespace, 'web', 'main', command, stdout, null, null, true, status.resolve);
    await eventually(systemClock, 'the first size', () => cluster.sizes.includes('80x24'));
    stdout.resize(90, 30);
    assert.equal(exitCode(await status.promise), '5');
    assert.deepEqual(cluster.sizes, ['80x24', '90x30']);
  });

  it('attach joins the container, which continues without the client', async () => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    let said = '';
    stdout.on('data', (chunk) => (said += chunk));
    const connection = await new Attach(config).attach(namespace, 'web', 'main', stdout, null, stdin, false);
    stdin.write('a word\n');
    await eventually(systemClock, 'the answer', () => said === 'a word\n');
    cluster.runtime.print(cluster.containerId, 'of its own');
    await eventually(systemClock, 'the output', () => said === 'a word\nof its own\n');
    const closed = Promise.withResolvers<void>();
    connection.onclose = () => closed.resolve();
    connection.close();
    await closed.promise;
    assert.equal((await cluster.runtime.inspect(cluster.containerId))?.state, 'running');
  });

  it('cp copies files to the container and back', async () => {
    const directories = ['from', 'there', 'back'].map((name) => join(cluster.server.directory, name));
    const [from = '', there = '', back = ''] = directories;
    for (const directory of directories) mkdirSync(directory);
    mkdirSync(join(from, 'in/it'), { recursive: true });
    writeFileSync(join(from, 'in/it/small'), 'small');
    writeFileSync(join(from, 'megabytes'), megabytes);
    const isComplete = (directory: string) => () =>
      existsSync(join(directory, 'megabytes')) &&
      existsSync(join(directory, 'in/it/small')) &&
      readFileSync(join(directory, 'in/it/small'), 'utf8') === 'small' &&
      sha256(readFileSync(join(directory, 'megabytes'))) === sha256(megabytes);
    const cp = new Cp(config);
    // The client resolves when the command has started.
    await cp.cpToPod(namespace, 'web', 'main', from, there);
    await eventually(systemClock, 'the files in the container', isComplete(there));
    await cp.cpFromPod(namespace, 'web', 'main', '.', back, there);
    await eventually(systemClock, 'the files back here', isComplete(back));
    await eventually(systemClock, 'the end of the commands', () => cluster.running() === 0);
  });

  it('port-forward carries bytes both ways, and the end that the server sends', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const forward = new PortForward(config);
    const echoing = await forward.portForward(namespace, 'web', [8080], output, null, input);
    const sent = megabytes.subarray(0, 200_000);
    input.write(sent);
    const got: Buffer[] = [];
    for await (const chunk of output) {
      got.push(chunk);
      if (Buffer.concat(got).length >= sent.length) break;
    }
    assert.equal(sha256(Buffer.concat(got)), sha256(sent));
    (typeof echoing === 'function' ? echoing() : echoing)?.close();
    let said = '';
    const page = new PassThrough().on('data', (chunk) => (said += chunk));
    const ending = await forward.portForward(namespace, 'web', [8090], page, null, new PassThrough());
    await eventually(systemClock, 'all of the page', () => said === 'that is all\n');
    (typeof ending === 'function' ? ending() : ending)?.close();
  });

  it('port-forward reports a port on which nothing listens', async () => {
    let said = '';
    const failures = new PassThrough().on('data', (chunk) => (said += chunk));
    const forward = new PortForward(config);
    await forward.portForward(namespace, 'web', [8081], new PassThrough(), failures, new PassThrough());
    await eventually(systemClock, 'the failure', () => /connect to port 8081: Connection refused/.test(said));
  });

  describe('logs', () => {
    const read = async (options?: LogOptions, container = 'main') => {
      const lines = new PassThrough();
      await new Log(config).log(namespace, 'web', container, lines, options);
      return lines;
    };

    before(() => {
      for (const line of ['first', '€ second', 'third']) cluster.runtime.print(cluster.containerId, line);
    });

    it('are read from the end, with timestamps, and up to a number of bytes', async () => {
      assert.equal(await text(await read({ tailLines: 2 })), '€ second\nthird\n');
      assert.match(await text(await read({ tailLines: 1, timestamps: true })), /^\d{4}-\S+Z third\n$/);
      assert.equal(await text(await read({ tailLines: 2, limitBytes: 5 })), '€ s');
    });

    it('are refused with a code', async () => {
      const codeOf = (options: LogOptions, container?: string) =>
        read(options, container).then(
          () => undefined,
          (error) => error instanceof ApiException && error.code,
        );
      assert.equal(await codeOf({}, 'none'), 400);
      assert.equal(await codeOf({ tailLines: -1 }), 422);
      assert.equal(await codeOf({ previous: true }), 400);
    });

    it('are followed until the container ends', async () => {
      const lines = await read({ follow: true, tailLines: 1 });
      let said = '';
      lines.on('data', (chunk) => (said += chunk));
      const ended = once(lines, 'end');
      await eventually(systemClock, 'the last line', () => said === 'third\n');
      cluster.runtime.print(cluster.containerId, 'fourth');
      await eventually(systemClock, 'the next line', () => said === 'third\nfourth\n');
      cluster.runtime.exit(cluster.containerId, 0);
      await ended;
      assert.equal(said, 'third\nfourth\n');
    });
  });
});
