/** Streams of the JavaScript client of Kubernetes, unmodified, with real containers. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { Attach, CoreV1Api, Cp, Exec, Log, type LogOptions, type V1Status } from '@kubernetes/client-node';
import { makeDirectory } from './harness/belongings.ts';
import { Cluster } from './harness/cluster.ts';
import { isReady } from './harness/hello.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** An output that has the size of a terminal. */
class TerminalOutput extends PassThrough {
  readonly rows = 33;
  readonly columns = 77;
}

test('@kubernetes/client-node can use all streams of containers', async (context) => {
  const host = await Host.start(context);
  const cluster = await Cluster.start(context, { host });
  const config = cluster.kubeConfig();
  const core = config.makeApiClient(CoreV1Api);
  const namespace = 'default';
  const directory = makeDirectory('minik8s-e2e-client-node-');
  context.after(() => rmSync(directory, { recursive: true }));

  const image = { image: 'minik8s/hello:1', imagePullPolicy: 'IfNotPresent' };
  const typing = 'while read line; do echo "got $line"; done; sleep 100000';
  const twice = `if [ -e /shared/begun ]; then
    echo second; until [ -e /shared/enough ]; do sleep 0.1; done; echo last; exit 0
    fi; touch /shared/begun; for n in 1 2 3; do echo "first $n"; done; exit 1`;
  await core.createNamespacedPod({
    namespace,
    body: {
      metadata: { name: 'streams' },
      spec: {
        terminationGracePeriodSeconds: 0,
        restartPolicy: 'OnFailure',
        containers: [
          { name: 'typist', ...image, command: ['sh', '-c', typing], stdin: true },
          {
            name: 'twice',
            ...image,
            command: ['sh', '-c', twice],
            volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
          },
        ],
        volumes: [{ name: 'shared', emptyDir: {} }],
      },
    },
  });
  const pod = () => core.readNamespacedPod({ name: 'streams', namespace });
  const stateOf = async (container: string) =>
    (await pod()).status?.containerStatuses?.find(({ name }) => name === container);
  await waitFor('the restarted container', async () => {
    return isReady(await pod()) && (await stateOf('twice'))?.restartCount === 1;
  });

  /** Runs a shell script in a container, and resolves with its exit code and outputs. */
  async function run(container: string, script: string, stdout = new PassThrough(), tty = false) {
    const output = text(stdout);
    const status = Promise.withResolvers<V1Status>();
    const command = ['sh', '-c', script];
    await new Exec(config).exec(namespace, 'streams', container, command, stdout, null, null, tty, (told) => {
      stdout.end();
      status.resolve(told);
    });
    const causes = (await status.promise).details?.causes;
    const code = causes?.find(({ reason }) => reason === 'ExitCode')?.message ?? '0';
    return { code, output: await output };
  }

  const logs = async (options: LogOptions) => {
    const lines = new PassThrough();
    await new Log(config).log(namespace, 'streams', 'twice', lines, options);
    return lines;
  };

  await context.test(
    'logs are read of a container and of its previous instance, and by their last lines',
    async () => {
      assert.equal(await text(await logs({})), 'second\n');
      assert.equal(await text(await logs({ previous: true })), 'first 1\nfirst 2\nfirst 3\n');
      assert.equal(await text(await logs({ previous: true, tailLines: 2 })), 'first 2\nfirst 3\n');
      const stamped = await text(await logs({ previous: true, tailLines: 1, timestamps: true }));
      assert.match(stamped, /^\d{4}-\d\d-\d\dT[\d:.]+Z first 3\n$/);
    },
  );

  await context.test('logs are followed until the container ends', async () => {
    const lines = await logs({ follow: true });
    let said = '';
    lines.on('data', (chunk) => (said += chunk));
    const ended = once(lines, 'end');
    await waitFor('the first line', () => said === 'second\n');
    assert.equal((await run('twice', 'touch /shared/enough')).code, '0');
    await ended;
    assert.equal(said, 'second\nlast\n');
  });

  await context.test('exec runs a program in a terminal of the client’s size', async () => {
    const sized = 'until [ "$(stty size 2>/dev/null)" = "33 77" ]; do sleep 0.05; done; stty size; exit 4';
    assert.deepEqual(await run('typist', sized, new TerminalOutput(), true), {
      code: '4',
      output: '33 77\r\n',
    });
  });

  await context.test('attach joins a container, which continues without the client', async () => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    let said = '';
    stdout.on('data', (chunk) => (said += chunk));
    const attach = new Attach(config);
    const connection = await attach.attach(namespace, 'streams', 'typist', stdout, null, stdin, false);
    stdin.write('a word\n');
    await waitFor('the answer', () => said.includes('got a word\n'));
    connection.close();
    const again = new PassThrough();
    const second = await attach.attach(namespace, 'streams', 'typist', stdout, null, again, false);
    again.write('another\n');
    await waitFor('the second answer', () => said.includes('got another\n'));
    second.close();
    const typist = await stateOf('typist');
    assert.ok(typist?.state?.running);
    assert.equal(typist.restartCount, 0);
  });

  await context.test('cp copies files to the container and back', async () => {
    const [from, back] = [join(directory, 'from'), join(directory, 'back')];
    for (const made of [join(from, 'in'), back]) mkdirSync(made, { recursive: true });
    const megabytes = randomBytes(3_000_000);
    writeFileSync(join(from, 'megabytes'), megabytes);
    writeFileSync(join(from, 'in/small'), 'small');
    const cp = new Cp(config);
    await cp.cpToPod(namespace, 'streams', 'typist', from, '/tmp');
    // The client resolves when the command has started.
    const sums = `${sha256(megabytes)}  /tmp/megabytes\nsmall`;
    const copied = async () =>
      (await run('typist', 'sha256sum /tmp/megabytes; cat /tmp/in/small')).output === sums;
    await waitFor('the files in the container', copied);
    await cp.cpFromPod(namespace, 'streams', 'typist', '.', back, '/tmp');
    const [file, small] = [join(back, 'megabytes'), join(back, 'in/small')];
    const isBack = () =>
      existsSync(small) &&
      readFileSync(small, 'utf8') === 'small' &&
      existsSync(file) &&
      sha256(readFileSync(file)) === sha256(megabytes);
    await waitFor('the files back here', isBack);
  });
});
