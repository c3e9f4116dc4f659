/** ctl and kubectl at a real terminal: joining a shell, and programs that are not there. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { type ExecError, systemExec } from '../../src/base/exec.ts';
import { anyKubectl } from '../fixtures/kubectls.ts';
import { Terminal } from '../fixtures/terminal.ts';
import { makeDirectory } from './harness/belongings.ts';
import { Cluster, executable } from './harness/cluster.ts';
import { isReady } from './harness/hello.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

test('a terminal of ctl, as one of kubectl', async (context) => {
  const host = await Host.start(context);
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
  // By Ctrl-C kubectl ends with 1, ctl as the shell counts it.
  const programs = { kubectl: [anyKubectl()], ctl: [executable, 'ctl'] };

  for (const [client, program] of Object.entries(programs)) {
    const command = (...args: string[]) => [...program, '--kubeconfig', cluster.kubeconfig, ...args];

    await context.test(
      `${client} attach -it: a shell of the terminal's size, Ctrl-C, and its end`,
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
        // Ctrl-C is for what runs in the shell.
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

    await context.test(`${client} attach: Ctrl-C leaves the program running`, async () => {
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
    'a program that is not there is named, with the status that kubectl ends with',
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
});
