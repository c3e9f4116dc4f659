/**
 * docs/backup.md, followed to the letter on two virtual machines: a backup of vm1, whose power is cut for
 * good, is restored on vm2 with another address.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeDirectory } from '../e2e/harness/belongings.ts';
import { addressOf, minutes, startFreshMachines } from './fresh-machines.ts';
import { stepsOf } from './page-steps.ts';
import { stopwatch } from './stopwatch.ts';

const patient = { timeoutMs: 10 * minutes };

test('a backup of a lost machine is restored on another one, as docs/backup.md says', {
  timeout: 55 * minutes,
}, async (context) => {
  const onFirst = [...stepsOf('backup.md', 'Create one'), ...stepsOf('backup.md', 'Verify it')];
  const onSecond = stepsOf('backup.md', 'Restore it on another machine');
  assert.deepEqual(
    [...onFirst, ...onSecond].map(({ machine }) => machine),
    ['vm1', 'vm1', 'vm2', 'vm2', 'vm2'],
  );
  const [create, verify] = onFirst.map(({ script }) => script);
  const [restore, ready, move] = onSecond.map(({ script }) => script);
  assert.ok(create && verify && restore && ready && move);
  const done = stopwatch(context);
  const [first, second] = await startFreshMachines(2);
  assert.ok(first && second);
  await using vm1 = first;
  await using vm2 = second;
  done('boot of two machines');

  await vm1.output('./minik8s install up', patient);
  await vm1.output('minik8s ctl apply -f hello', patient);
  await vm1.output('minik8s ctl rollout status deployment hello --timeout=300s', patient);
  done('install up, and three pods');
  const uids = `minik8s ctl get deployment,service hello -o jsonpath='{range .items[*]}{.metadata.uid}{"\\n"}{end}'`;
  const expected = await vm1.output(uids);
  const created = await vm1.output(create, patient);
  assert.match(created, /\.tar\.zst\.age: \d+ keys at revision \d+/);
  assert.match(created, /^CREATED +SIZE +ENCRYPTED +FILE\n\S+ +\S+ [kM]B +yes +\/var\/backups/m);
  done('backup create');
  assert.match(await vm1.output(verify, patient), /\.tar\.zst\.age is whole: \d+ keys/);
  done('backup verify');
  const archive = join(makeDirectory('minik8s-vm-backup-'), 'backup.tar');
  await vm1.output('tar -c -f /tmp/backup.tar -C / root/passphrase var/backups/minik8s');
  await vm1.copyOut('/tmp/backup.tar', archive);
  await vm1.powerOff();

  await vm2.copyIn(archive, '/tmp/backup.tar');
  await vm2.output('tar -x -f /tmp/backup.tar -C / && cp minik8s /usr/local/bin/');
  assert.match(await vm2.output(restore, patient), /restored into \/var\/lib\/minik8s: \d+ keys/);
  const nodes = await vm2.output(ready, patient);
  assert.match(nodes, /^vm1 +/m);
  assert.match(nodes, /^vm2 +Ready/m);
  done('backup restore and start');
  const shown = await vm2.output(move, patient);
  const rows = shown.split('\n').filter((line) => /^hello-.* Running /.test(line));
  assert.equal(rows.length, 3, shown);
  assert.ok(
    rows.every((line) => line.includes(' vm2 ')),
    shown,
  );
  done('pods on the other machine');
  assert.equal(await vm2.output(uids), expected, 'the objects are those of the backup');
  const kubeconfig = await vm2.output(
    'minik8s ctl config view --minify -o jsonpath={.clusters[0].cluster.server}',
  );
  assert.match(kubeconfig, new RegExp(`//(127\\.0\\.0\\.1|${addressOf(2)}):6443$`));
  const ask = `until curl -sS --max-time 20 http://$(minik8s ctl get service hello -o jsonpath={.spec.clusterIP})/; do sleep 1; done`;
  assert.match(await vm2.output(ask, patient), /^hello from hello-/);
});
