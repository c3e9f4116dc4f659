import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { Exec, PortForward, type V1Pod, type V1Status } from '@kubernetes/client-node';
import { systemExec } from '../../src/os/exec.ts';
import { anyKubectl, kubectlsOf } from '../fixtures/kubectls.ts';
import { makeDirectory } from './harness/belongings.ts';
import { Cluster, executable } from './harness/cluster.ts';
import { isReady } from './harness/hello.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

interface Finished {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs a program with input and returns its output. */
async function run(
  file: string,
  args: readonly string[],
  input: Uint8Array | string = '',
): Promise<Finished> {
  const child = spawn(file, args, { stdio: 'pipe', timeout: 60_000 });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [stdout, stderr] = [buffer(child.stdout), buffer(child.stderr)];
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: await stdout, stderr: (await stderr).toString() };
}

/** Resolves with the port of this machine that kubectl forwards, once kubectl prints it. */
function forwardedPort(child: ChildProcess): Promise<number> {
  let text = '';
  child.stdout?.on('data', (chunk) => (text += chunk));
  child.stderr?.on('data', (chunk) => (text += chunk));
  return waitFor('kubectl port-forward', () => {
    if (child.exitCode !== null) throw new Error(`kubectl ended: ${text}`);
    const port = /127\.0\.0\.1:(\d+) ->/.exec(text)?.[1];
    return port !== undefined && Number(port);
  });
}

test('exec, attach, cp and port-forward work with every client', async (context) => {
  const host = await Host.start(context);
  const cluster = await Cluster.start(context, { host });
  const directory = makeDirectory('minik8s-e2e-streams-');
  context.after(() => rmSync(directory, { recursive: true }));
  const megabytes = randomBytes(3_000_000);
  const file = join(directory, 'megabytes');
  writeFileSync(file, megabytes);
  // The server listens on its loopback address only.
  const script = `echo page > /www/index.html; head -c 2000000 /dev/urandom > /www/big
    httpd -p 127.0.0.1:8080 -h /www; exec sleep 100000`;
  const tools = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'tools' },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'main',
          image: 'minik8s/hello:1',
          imagePullPolicy: 'IfNotPresent',
          command: ['sh', '-c', script],
          // The pod is ready when all its files exist.
          readinessProbe: {
            exec: { command: ['wget', '-q', '-O', '/dev/null', 'http://127.0.0.1:8080/'] },
            periodSeconds: 1,
            timeoutSeconds: 10,
          },
        },
        {
          name: 'typist',
          image: 'minik8s/hello:1',
          imagePullPolicy: 'IfNotPresent',
          command: ['sh', '-c', 'while read line; do echo "got $line"; done; sleep 100000'],
          stdin: true,
        },
        {
          name: 'terminal',
          image: 'minik8s/hello:1',
          imagePullPolicy: 'IfNotPresent',
          command: ['sh'],
          stdin: true,
          tty: true,
        },
      ],
    },
  };
  await cluster.kubectl.attempt(['create', '-f', '-'], { input: JSON.stringify(tools) });
  await waitFor('pod tools', async () => isReady(await cluster.kubectl.json<V1Pod>('get', 'pod', 'tools')));
  const big = Buffer.from(await cluster.kubectl('exec', 'tools', '-c', 'main', '--', 'sha256sum', '/www/big'))
    .toString()
    .slice(0, 64);

  const kubectls = kubectlsOf(['1.20', '1.27', '1.29', '1.30', '1.32']);
  for (const { client, path, first } of [
    ...kubectls.map(({ version, path }) => ({ client: `kubectl ${version}`, path, first: [] })),
    { client: 'ctl', path: executable, first: ['ctl'] },
  ]) {
    const kubeconfig = [...first, '--kubeconfig', cluster.kubeconfig];
    const kubectl = (args: readonly string[], input?: Uint8Array | string) =>
      run(path, [...kubeconfig, ...args], input);
    const exec = (args: readonly string[], input?: Uint8Array | string) =>
      kubectl(['exec', ...(input === undefined ? [] : ['-i']), 'tools', '-c', 'main', '--', ...args], input);
    const inTerminal = (args: readonly string[], input = '') => {
      const command = [path, ...kubeconfig, ...args].map((word) => `'${word}'`).join(' ');
      return run('script', ['-qec', `stty rows 33 cols 77; ${command}`, '/dev/null'], input);
    };

    await context.test(`${client}: exec returns both outputs and the exit status`, async () => {
      const { code, stdout, stderr } = await exec(['sh', '-c', 'echo out; echo err >&2; exit 3']);
      assert.equal(stdout.toString(), 'out\n');
      assert.equal(stderr, 'err\ncommand terminated with exit code 3\n');
      assert.equal(code, 3);
    });

    await context.test(
      `${client}: exec transfers megabytes in both directions, and the end of input`,
      async () => {
        const { code, stdout } = await exec(['cat'], megabytes);
        assert.equal(code, 0);
        assert.equal(sha256(stdout), sha256(megabytes));
        assert.equal(
          (await exec(['sha256sum'], megabytes)).stdout.toString().slice(0, 64),
          sha256(megabytes),
        );
      },
    );

    await context.test(`${client}: exec -it has a terminal of the client's size`, async () => {
      // The size arrives a moment after the command has started.
      const sized = 'until [ "$(stty size 2>/dev/null)" = "33 77" ]; do sleep 0.05; done; stty size; exit 4';
      const { code, stdout } = await inTerminal([
        'exec',
        '-it',
        'tools',
        '-c',
        'main',
        '--',
        'sh',
        '-c',
        sized,
      ]);
      assert.match(stdout.toString(), /33 77\r?$/m);
      assert.equal(code, 4);
    });

    await context.test(`${client}: exec reports why a command cannot be run`, async () => {
      const absent = await exec(['absent']);
      assert.notEqual(absent.code, 0);
      assert.match(absent.stdout.toString() + absent.stderr, /"absent".*: executable file not found/);
      const none = await kubectl(['exec', 'tools', '-c', 'none', '--', 'true']);
      assert.equal(
        none.stderr,
        'Error from server (BadRequest): container none is not valid for pod tools\n',
      );
    });

    await context.test(`${client}: cp copies files to the container and back`, async () => {
      const [there, back] = [`/tmp/${client.replaceAll(' ', '-')}`, join(directory, `back-${client}`)];
      const copied = await kubectl(['cp', '-c', 'main', file, `tools:${there}`]);
      assert.deepEqual([copied.code, copied.stderr], [0, '']);
      assert.equal((await kubectl(['cp', '-c', 'main', `tools:${there}`, back])).code, 0);
      assert.equal(sha256(readFileSync(back)), sha256(megabytes));
    });

    await context.test(`${client}: port-forward serves several connections at once`, async () => {
      const args = [...kubeconfig, 'port-forward', 'pod/tools', ':8080'];
      const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      try {
        const port = await forwardedPort(child);
        const get = async (page: string) =>
          buffer((await fetch(`http://127.0.0.1:${port}/${page}`)).body ?? new ReadableStream());
        const pages = await Promise.all(['big', '', 'big', '', 'big', 'big'].map(get));
        assert.equal(pages[1]?.toString(), 'page\n');
        assert.equal(pages[3]?.toString(), 'page\n');
        for (const index of [0, 2, 4, 5]) assert.equal(sha256(pages[index] ?? Buffer.alloc(0)), big);
      } finally {
        child.kill();
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      }
    });

    await context.test(`${client}: run --rm uses input and a terminal, and removes its pod`, async () => {
      const name = `once-${client.replaceAll(/[^0-9]/g, '-')}x`;
      const pod = ['run', name, '--image=minik8s/hello:1', '--image-pull-policy=IfNotPresent'];
      const piped = await kubectl([...pod, '-i', '--rm', '--restart=Never', '--', 'cat'], 'hello\n');
      assert.match(piped.stdout.toString(), /^hello$/m);
      assert.match(piped.stdout.toString(), new RegExp(`pod "${name}" deleted`));
      const asked = 'read answer; echo "you said $answer"; exit 5';
      const typed = await inTerminal(
        [...pod, '-it', '--rm', '--restart=Never', '--', 'sh', '-c', asked],
        'well\n',
      );
      assert.match(typed.stdout.toString(), /you said well/);
      assert.equal(typed.code, 5);
    });
  }

  const debuggers = kubectls
    .filter(({ version }) => version !== '1.20')
    .map(({ version, path }) => ({ client: `kubectl ${version}`, path, first: [] as string[] }));
  for (const { client, path, first } of [...debuggers, { client: 'ctl', path: executable, first: ['ctl'] }]) {
    await context.test(`${client}: debug shows the processes of a running container`, async () => {
      const pod = ['debug', 'tools', '-q', '-i', '--target=main', '--image=minik8s/hello:1'];
      const name = `look-${client.replaceAll(/[ .]/g, '-')}`;
      const policy = ['--image-pull-policy=IfNotPresent', `--container=${name}`];
      const command = [
        '--',
        'sh',
        '-c',
        'read page; tr "\\0" " " < /proc/1/cmdline; wget -qO- "127.0.0.1:8080/$page"',
      ];
      const all = [...first, '--kubeconfig', cluster.kubeconfig, ...pod, ...policy, ...command];
      const child = spawn(path, all, { stdio: 'pipe', timeout: 60_000 });
      const [stdout, stderr] = [buffer(child.stdout), buffer(child.stderr)];
      // The end of the input would end the connection, as in upstream, and not only the container's input.
      child.stdin.write('index.html\n');
      const [code] = await once(child, 'close');
      assert.equal(code, 0, (await stderr).toString());
      assert.match((await stdout).toString(), /^sleep 100000 page$/m);
    });
  }

  /** Runs a script in a debugging container, once it is attached: earlier output would be lost. */
  const debug = async (script: string, ...args: string[]): Promise<Finished> => {
    const first = ['ctl', '--kubeconfig', cluster.kubeconfig, 'debug', '-q', '-i', '--image=minik8s/hello:1'];
    const all = [
      ...first,
      '--image-pull-policy=IfNotPresent',
      ...args,
      '--',
      'sh',
      '-c',
      `read go; ${script}`,
    ];
    const child = spawn(executable, all, { stdio: 'pipe', timeout: 60_000 });
    child.stdin.on('error', () => undefined);
    child.stdin.write('go\n');
    const [stdout, stderr] = [buffer(child.stdout), buffer(child.stderr)];
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stdout: await stdout, stderr: (await stderr).toString() };
  };

  await context.test('ctl debug runs a copy of a pod whose processes it sees', async () => {
    const search = 'until grep -qsx sleep /proc/[0-9]*/comm; do true; done; echo found';
    const copy = ['tools', '--copy-to=copied', '-c', 'look', '--share-processes', '--profile=general'];
    const { code, stdout, stderr } = await debug(search, ...copy);
    assert.deepEqual([code, stdout.toString()], [0, 'found\n'], stderr);
  });

  await context.test('ctl debug shows the files and processes of a node', async () => {
    const script = `sha256sum < "/host${file}"; cat /proc/1/comm`;
    const { code, stdout, stderr } = await debug(script, `node/${cluster.nodeName}`, '--profile=general');
    const first = readFileSync('/proc/1/comm', 'utf8');
    assert.deepEqual([code, stdout.toString()], [0, `${sha256(megabytes)}  -\n${first}`], stderr);
  });

  await context.test('ctl debug of a node is rejected if Pod Security forbids its pod', async () => {
    await cluster.kubectl('create', 'namespace', 'guarded');
    await cluster.kubectl('label', 'namespace', 'guarded', 'pod-security.kubernetes.io/enforce=baseline');
    const node = [`node/${cluster.nodeName}`, '--profile=sysadmin', '-n', 'guarded'];
    const { code, stdout, stderr } = await debug('true', ...node);
    assert.deepEqual([code, stdout.toString()], [1, '']);
    assert.match(stderr, /violates PodSecurity "baseline:latest": .*host/);
  });

  await context.test('attach connects to a running container and leaves it running', async () => {
    const path = anyKubectl();
    const args = ['--kubeconfig', cluster.kubeconfig, 'attach', '-i', 'tools', '-c', 'typist'];
    const child = spawn(path, args, { stdio: 'pipe' });
    let said = '';
    child.stdout.on('data', (chunk) => (said += chunk));
    child.stdin.write('a word\n');
    await waitFor('an answer', () => said.includes('got a word\n'));
    child.kill();
    await once(child, 'exit');
    const { status } = await cluster.kubectl.json<V1Pod>('get', 'pod', 'tools');
    const typist = status?.containerStatuses?.find(({ name }) => name === 'typist');
    assert.ok(typist?.state?.running);
    assert.equal(typist.restartCount, 0);
  });

  await context.test('ctl: typed keys end attach -it with status 0, and the shell runs on', async () => {
    const attach = ['attach', '-it', 'tools', '-c', 'terminal'];
    const command = [executable, 'ctl', '--kubeconfig', cluster.kubeconfig, ...attach];
    const quoted = command.map((word) => `'${word}'`).join(' ');
    for (const number of ['21', '42']) {
      const child = spawn('script', ['-qec', quoted, '/dev/null'], { stdio: 'pipe' });
      let text = '';
      child.stdout.on('data', (chunk) => (text += chunk));
      const ended = once(child, 'close');
      child.stdin.write(`echo $((${number} * 2)) is the answer\n`);
      await waitFor(`the answer of the shell: ${text}`, () =>
        text.includes(`${Number(number) * 2} is the answer`),
      );
      child.stdin.write('\x10\x11');
      assert.deepEqual(await ended, [0, null]);
    }
    const { status } = await cluster.kubectl.json<V1Pod>('get', 'pod', 'tools');
    const terminal = status?.containerStatuses?.find(({ name }) => name === 'terminal');
    assert.ok(terminal?.state?.running);
    assert.equal(terminal.restartCount, 0);
  });

  await context.test(
    'ctl: run -it of a pod that is not restarted ends at the typed keys as well',
    async () => {
      const run = ['run', '-it', 'left', '--image=minik8s/hello:1', '--image-pull-policy=IfNotPresent'];
      const words = [...run, '--restart=Never', '--leave-stdin-open=false', '--', 'sh'];
      const command = [executable, 'ctl', '--kubeconfig', cluster.kubeconfig, ...words];
      const quoted = command.map((word) => `'${word}'`).join(' ');
      const child = spawn('script', ['-qec', quoted, '/dev/null'], { stdio: 'pipe' });
      let text = '';
      child.stdout.on('data', (chunk) => (text += chunk));
      const ended = once(child, 'close');
      child.stdin.write('echo $((21 * 2)) is the answer\n');
      await waitFor('the answer of the shell', () => text.includes('42 is the answer'));
      child.stdin.write('\x10\x11');
      assert.deepEqual(await ended, [0, null]);
      assert.match(text, /resume using 'ctl attach left -c left -i -t'/);
      assert.equal((await cluster.kubectl.json<V1Pod>('get', 'pod', 'left')).status?.phase, 'Running');
    },
  );

  await context.test('client-node uses exec and port-forward', async () => {
    const config = cluster.kubeConfig();
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const status = Promise.withResolvers<V1Status>();
    const output = buffer(stdout);
    stdin.end(megabytes);
    const command = ['sh', '-c', 'cat; exit 6'];
    await new Exec(config).exec('default', 'tools', 'main', command, stdout, stderr, stdin, false, (told) => {
      stdout.end();
      status.resolve(told);
    });
    const causes = (await status.promise).details?.causes;
    assert.equal(causes?.find(({ reason }) => reason === 'ExitCode')?.message, '6');
    assert.equal(sha256(await output), sha256(megabytes));

    const [input, page] = [new PassThrough(), new PassThrough()];
    const socket = await new PortForward(config).portForward('default', 'tools', [8080], page, null, input);
    input.write('GET / HTTP/1.0\r\n\r\n');
    let answer = '';
    page.on('data', (chunk) => (answer += chunk));
    await waitFor('the page', () => answer.endsWith('page\n'));
    (typeof socket === 'function' ? socket() : socket)?.close();
  });

  await context.test('a client that is killed leaves nothing behind on the node', async () => {
    const args = ['--kubeconfig', cluster.kubeconfig, 'port-forward', 'pod/tools', ':8080'];
    const child = spawn(anyKubectl(), args, {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const port = await forwardedPort(child);
    const idle = spawn('curl', ['-sN', `telnet://127.0.0.1:${port}`], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const bridges = () => cluster.processes('pause').length;
    await waitFor('a connection into the pod', () => bridges() === 1);
    child.kill('SIGKILL');
    await waitFor('its end', () => bridges() === 0);
    idle.kill();
  });

  await context.test('minik8s ends at once while streams are open', async () => {
    const path = anyKubectl();
    const args = ['--kubeconfig', cluster.kubeconfig, 'exec', 'tools', '-c', 'main', '--', 'sleep', '98703'];
    const child = spawn(path, args, { stdio: 'ignore' });
    const ended = once(child, 'exit').then(([code]) => code as number | null);
    const sleeping = async () => {
      const { stdout } = await systemExec('pgrep', ['-x', 'sleep', '-a']).catch(() => ({ stdout: '' }));
      return /sleep 98703$/m.test(stdout);
    };
    await waitFor('the command', sleeping);
    // A process that does not end is killed, and then has no exit status.
    assert.equal(await cluster.end('SIGTERM'), 0);
    assert.notEqual(await ended, 0);
  });
});
