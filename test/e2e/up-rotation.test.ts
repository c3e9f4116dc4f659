/** The authority of a cluster of one machine is rotated; its own node follows with the master. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cluster, executable } from './harness/cluster.ts';
import { endOf } from './harness/end-of.ts';
import { Hosts } from './harness/hosts.ts';

test('the authority of a cluster of one machine is rotated, and its pods continue to run', async (context) => {
  const hosts = await Hosts.start(context, 1);
  const host = hosts.at(0);
  const cluster = await Cluster.start(context, { host });
  const { kubectl } = cluster;
  await kubectl(
    'run',
    'hello',
    '--image=minik8s/hello:1',
    '--image-pull-policy=Never',
    '--',
    'sleep',
    '9999',
  );
  await kubectl('wait', '--for=condition=Ready', 'pod/hello', '--timeout=60s');
  const rotate = async (...flags: string[]) => {
    const args = ['certs', 'rotate-ca', ...flags, '--data-dir', cluster.dataDir];
    const { code, stdout, stderr } = await endOf(host.command(executable, args), 400_000);
    assert.deepEqual([code, stderr], [0, ''], stdout);
    return stdout;
  };
  const check = () => endOf(host.command(executable, ['certs', 'check', '--data-dir', cluster.dataDir]));
  const works = async () => {
    assert.equal(await kubectl('exec', 'hello', '--', 'echo', 'reached'), 'reached\n');
    const { code, stdout } = await check();
    assert.equal(code, 0, stdout);
  };
  const out = await rotate();
  assert.match(out, /^phase +issue: /m);
  assert.match(out, /^node +\S+: done$/m);
  await works();
  assert.match(await rotate('--finish'), /^phase +finish: /m);
  await works();
});
