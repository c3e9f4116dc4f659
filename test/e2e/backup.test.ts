/**
 * docs/backup.md, followed to the letter: a backup of one host, restored on another one with another address.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BareMachine } from './harness/bare-machine.ts';
import { Hosts } from './harness/hosts.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/backup.md'), 'utf8');

/** Returns the steps: each indented block, with the machine that the preceding line names. */
const steps = [...page.matchAll(/^On (vm[12]):\n\n((?: {4}.*\n)+)/gm)].map(
  ([, machine = '', block = '']) => ({
    machine,
    script: block.replaceAll(/^ {4}/gm, ''),
  }),
);

const start = `minik8s up >/var/log/minik8s.log 2>&1 &
until grep 'minik8s is ready' /var/log/minik8s.log; do sleep 0.5; done
minik8s ctl apply -f samples/hello
minik8s ctl rollout status deployment hello`;

test('a backup is restored on another machine, as docs/backup.md says', { timeout: 300_000 }, async () => {
  assert.deepEqual(
    steps.map(({ machine }) => machine),
    ['vm1', 'vm1', 'vm2', 'vm2', 'vm2'],
  );
  const closers: (() => Promise<void>)[] = [];
  const hosts = await Hosts.start({ after: (fn) => closers.push(fn) }, 2, { docker: false });
  try {
    const [first, second] = await Promise.all(
      hosts.all.map((host, index) => BareMachine.start(`vm${index + 1}`, host)),
    );
    assert.ok(first && second);
    await Promise.all([first.run('bin/make-images'), second.run('bin/make-images')]);
    await first.run(start);
    const outputs: string[] = [];
    for (const { machine, script } of steps.slice(0, 2)) {
      assert.equal(machine, 'vm1');
      outputs.push((await first.run(script)).stdout);
    }
    assert.match(outputs[0] ?? '', /\.tar\.zst\.age: \d+ keys at revision \d+/);
    assert.match(outputs[0] ?? '', /^CREATED +SIZE +ENCRYPTED +FILE\n\S+ +\S+ [kM]B +yes +\/var\/backups/m);
    assert.match(outputs[1] ?? '', /\.tar\.zst\.age is whole: \d+ keys/);
    const uid = (await first.run('minik8s ctl get deployment hello -o jsonpath={.metadata.uid}')).stdout;
    const copied = await first.run('cd / && tar -c root/passphrase var/backups/minik8s | base64');
    await first.run('pid=$(cut -d" " -f1 /var/lib/minik8s/minik8s.pid); kill -9 $pid');
    await second.run('cd / && base64 -d | tar -x', { input: copied.stdout });
    const patient = { timeoutMs: 150_000 };
    for (const { script } of steps.slice(2)) outputs.push((await second.run(script, patient)).stdout);
    assert.match(outputs[2] ?? '', /restored into \/var\/lib\/minik8s: \d+ keys/);
    assert.match(outputs[3] ?? '', /^vm1 +/m);
    assert.match(outputs[3] ?? '', /^vm2 +Ready/m);
    const pods = (outputs[4] ?? '').split('\n').filter((line) => /^hello-.* Running /.test(line));
    assert.ok(pods.length > 0 && pods.every((line) => line.includes('vm2')), outputs[4] ?? 'no output');
    const after = await second.run('minik8s ctl get deployment hello -o jsonpath={.metadata.uid}');
    assert.equal(after.stdout, uid);
  } finally {
    for (const close of closers) await close();
  }
});
