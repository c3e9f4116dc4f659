/** ctl and kubectl at a real terminal: attaching to a shell, and programs that do not exist. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { type ExecError, systemExec } from '../../src/os/exec.ts';
import { anyKubectl } from '../fixtures/kubectls.ts';
import { pushImage } from '../fixtures/pushed-image.ts';
import { startRegistry } from '../fixtures/registry.ts';
import { startRegistryGate } from '../fixtures/registry-gate.ts';
import { Terminal } from '../fixtures/terminal.ts';
import { TerminalScreen } from '../fixtures/terminal-screen.ts';
import { makeDirectory } from './harness/belongings.ts';
import { Cluster, executable } from './harness/cluster.ts';
import { endOf } from './harness/end-of.ts';
import { isReady } from './harness/hello.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

test('ctl uses a terminal as kubectl does', async (context) => {
  const host = await Host.start(context, { dockerFlags: ['--insecure-registry=198.18.0.0/15'] });
  const cluster = await Cluster.start(context, { host });
  const directory = makeDirectory('minik8s-e2e-terminal-', host.directory);
  const container = { image: 'minik8s/hello:1', imagePullPolicy: 'IfNotPresent' };
  const loop = 'while read line; do echo "got $line"; done; sleep 100000';
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'tools' },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [
        { name: 'shell', command: ['sh'], stdin: true, tty: true, ...container },
        { name: 'typist', command: ['sh', '-c', loop], stdin: true, ...container },
      ],
    },
  };
  await cluster.kubectl.attempt(['create', '-f', '-'], { input: JSON.stringify(pod) });
  const statusOf = async (name: string) => {
    const { status } = await cluster.kubectl.json<V1Pod>('get', 'pod', 'tools');
    return status?.containerStatuses?.find((each) => each.name === name);
  };
  const ready = () =>
    waitFor('pod tools', async () => isReady(await cluster.kubectl.json<V1Pod>('get', 'pod', 'tools')));
  // After Ctrl-C kubectl exits with 1, ctl with the shell's status for SIGINT.
  const programs = { kubectl: [anyKubectl()], ctl: [executable, 'ctl'] };

  for (const [client, program] of Object.entries(programs)) {
    const command = (...args: string[]) => [...program, '--kubeconfig', cluster.kubeconfig, ...args];

    await context.test(
      `${client} attach -it has a shell of the terminal's size, passes Ctrl-C on, and ends with the shell`,
      async () => {
        await ready();
        const before = (await statusOf('shell'))?.restartCount ?? 0;
        const terminal = new Terminal(directory, command('attach', '-it', 'tools', '-c', 'shell'));
        await terminal.prints(/try pressing enter/);
        terminal.type('echo here-$((1 + 1))\r');
        await terminal.prints(/here-2/);
        terminal.type('until [ "$(stty size)" = "33 77" ]; do sleep 0.1; done; echo first-$((1 + 1))\r');
        await terminal.prints(/first-2/);
        await terminal.resize(40, 90);
        terminal.type('until [ "$(stty size)" = "40 90" ]; do sleep 0.1; done; echo second-$((1 + 1))\r');
        await terminal.prints(/second-2/);
        // Ctrl-C goes to the program that runs in the shell.
        terminal.type('echo going-$((1 + 1)); sleep 100000\r');
        await terminal.prints(/going-2/);
        terminal.type('\x03');
        terminal.type('echo alive-$((1 + 1))\r');
        await terminal.prints(/alive-2/);
        assert.equal((await statusOf('shell'))?.restartCount, before);
        terminal.type('exit 5\r');
        const text = await terminal.end();
        assert.match(
          text,
          /Session ended, resume using '(kubectl|ctl) attach tools -c shell -i -t' command when the pod is running/,
        );
        assert.match(text, /^status 0\r$/m);
        assert.match(text, / icanon/);
        await waitFor('another shell', async () => (await statusOf('shell'))?.restartCount === before + 1);
      },
    );

    await context.test(`Ctrl-C during ${client} attach leaves the program running`, async () => {
      await ready();
      const terminal = new Terminal(directory, command('attach', '-i', 'tools', '-c', 'typist'));
      terminal.type(`word-of-${client}\n`);
      await terminal.prints(new RegExp(`got word-of-${client}`));
      terminal.type('\x03');
      const text = await terminal.end();
      assert.match(text, new RegExp(`status ${client === 'ctl' ? 130 : 1}\r\n`));
      const typist = await statusOf('typist');
      assert.ok(typist?.state?.running);
      assert.equal(typist.restartCount, 0);
    });
  }

  await context.test(
    'ctl names a program that does not exist, and ends with the same status as kubectl',
    async () => {
      await ready();
      const run = (program: readonly string[], more: readonly string[]) => {
        const [file = '', ...args] = [...program, '--kubeconfig', cluster.kubeconfig, ...more];
        return systemExec(file, args, { timeoutMs: 60_000 }).then(
          ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
          ({ failure }: ExecError) => failure,
        );
      };
      const found = ['exec', 'tools', '-c', 'typist', '--', 'echo', 'OCI runtime exec failed: not at all'];
      assert.equal((await run(programs.ctl, found)).stdout, 'OCI runtime exec failed: not at all\n');
      for (const program of ['nosuchprogram', '/etc/passwd', '/no/such']) {
        const args = ['exec', 'tools', '-c', 'typist', '--', program];
        const theirs = await run(programs.kubectl, args);
        const ours = await run(programs.ctl, args);
        assert.deepEqual([ours.code, ours.stdout], [theirs.code, '']);
        assert.match(
          ours.stderr,
          new RegExp(
            `^error: cannot run "${program}" in container typist of pod tools: [^\\n]+; name a program that [^\\n]+\\n$`,
          ),
        );
      }
      const copied = await run(programs.ctl, [
        'cp',
        '-c',
        'typist',
        'tools:/no/such',
        join(directory, 'copy'),
      ]);
      assert.notEqual(copied.code, 0);
    },
  );

  await context.test(
    'the progress of a pull is shown at a terminal until it is over, and not in a pipe',
    async (test) => {
      const registry = await startRegistry({ ip: host.gateway, isOpen: true });
      test.after(() => registry.stop());
      const gate = await startRegistryGate(host.gateway, registry.address);
      test.after(() => gate.stop());
      await pushImage(`${registry.address}/slow:1`, 1_000_000);
      const image = `${gate.address}/slow:1`;
      await cluster.kubectl('create', 'deployment', 'slow', `--image=${image}`);
      await cluster.kubectl('run', 'slow', `--image=${image}`);

      const command = (args: readonly string[]) => [executable, 'ctl', ...args];
      const env = { KUBECONFIG: cluster.kubeconfig, TERM: 'xterm', NO_COLOR: '1' };
      const rollout = ['rollout', 'status', 'deployment/slow'];
      const program = ['--image', image, '-i', '--rm', '--restart=Never', '--command', '--'];
      const shown = [
        ['deployment.apps/slow', rollout],
        ['pods/slow', ['wait', '--for=condition=Ready', '--timeout=120s', 'pod/slow']],
        ['pod/once', ['run', 'once', ...program, '/bin/busybox', 'sh', '-c', 'read line; echo got $line']],
      ] as const;
      const inPipe = endOf([
        'env',
        [...Object.entries(env).map(([k, v]) => `${k}=${v}`), ...command(rollout)],
      ]);
      const terminals = await Promise.all(
        shown.map(async ([object, args], index) => {
          const place = makeDirectory(`minik8s-e2e-terminal-${index}-`, host.directory);
          const terminal = new Terminal(place, command(args), env);
          // The rest of the line does not fit on the terminal.
          await terminal.prints(new RegExp(`${object}: pulling 0/1 layers, [0-9.]+/[0-9.]+ MB: `));
          return terminal;
        }),
      );
      gate.open();
      await terminals.at(-1)?.prints(/try pressing enter/);
      terminals.at(-1)?.type('words\n');
      const [ofRollout = '', ofWait = '', ofRun = ''] = await Promise.all(
        terminals.map(async (terminal) => {
          const screen = new TerminalScreen();
          const text = await terminal.end();
          screen.write(text.slice(0, text.indexOf('speed ')));
          return screen.text;
        }),
      );
      const { stdout, stderr } = await inPipe;
      assert.deepEqual([ofRollout, stderr], [`${stdout}status 0\n`, '']);
      assert.match(stdout, /^Waiting for .*\ndeployment "slow" successfully rolled out\n$/);
      assert.equal(ofWait, 'pod/slow condition met\nstatus 0\n');
      assert.match(ofRun, /^got words\n/m);
      assert.doesNotMatch(ofRun, /pulling/);
    },
  );
});
