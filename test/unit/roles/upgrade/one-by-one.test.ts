/** The course of `minik8s upgrade --nodes`: orders, waits, and the first failure. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { versionAnnotation } from '../../../../src/api/coordination/v1/master-lease.ts';
import {
  type UpgradeOrder,
  upgradableAnnotation,
  upgradeAnnotation,
  upgradeResultAnnotation,
} from '../../../../src/api/core/v1/node/upgrade.ts';
import type { Exec } from '../../../../src/os/exec.ts';
import { upgradeMasters } from '../../../../src/roles/upgrade/masters.ts';
import { upgradeNodes } from '../../../../src/roles/upgrade/nodes.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

interface Machine {
  version: string;
  annotations: Record<string, string>;
  unschedulable?: boolean;
}

/** `follow` is called with each order, and does what the machine does with it. */
function clusterOf(
  machines: Record<string, Machine>,
  follow: (name: string, order: UpgradeOrder, machine: Machine) => void,
) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const said: string[] = [];
  const objects = () =>
    Object.entries(machines).map(([name, { version, annotations, unschedulable }]) => ({
      metadata: { name, annotations: { ...annotations, [versionAnnotation]: version } },
      spec: { unschedulable, holderIdentity: name },
      status: {
        nodeInfo: { kubeletVersion: `v1.32.0-minik8s.${version}`, architecture: 'amd64' },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    }));
  const exec: Exec = async (_file, args) => {
    const words = args.slice(args.indexOf('--kubeconfig') + 2);
    if (words[0] === 'get') return { stdout: JSON.stringify({ items: objects() }), stderr: '' };
    const name = words[0] === 'annotate' ? (words[2] ?? '') : (words[1] ?? '');
    lines.push(`${words[0]} ${name}`);
    const order = words.find((word) => word.startsWith(`${upgradeAnnotation}=`));
    const machine = machines[name] ?? assert.fail(name);
    if (order !== undefined) {
      const text = order.slice(upgradeAnnotation.length + 1);
      machine.annotations[upgradeAnnotation] = text;
      follow(name, JSON.parse(text) as UpgradeOrder, machine);
    }
    return { stdout: '', stderr: '' };
  };
  const options = {
    ...{ exec, clock, signal: new AbortController().signal, kubeconfig: '/k', timeoutMs: 60_000 },
    executable: { version: '1.1.0', sha256: 'ab'.repeat(32), dataFormat: 0 },
    say: (line: string) => void said.push(line),
  };
  return { clock, lines, said, options };
}

const machine = (more: Partial<Machine> = {}): Machine => ({
  version: '1.0.0',
  annotations: { [upgradableAnnotation]: 'true' },
  ...more,
});
const succeed = (_name: string, order: UpgradeOrder, own: Machine) => {
  own.version = order.version;
};
const failOn = (bad: string) => (name: string, order: UpgradeOrder, own: Machine) => {
  if (name !== bad) return succeed(name, order, own);
  own.annotations[upgradeResultAnnotation] = JSON.stringify({ id: order.id, error: 'the disk is full' });
};

describe('upgrade of nodes', () => {
  it('drains and uncordons each node, except those that an administrator has cordoned', async () => {
    const machines = { a: machine(), b: machine({ unschedulable: true }) };
    const { clock, lines, said, options } = clusterOf(machines, succeed);
    const plan = { upgrades: ['a', 'b'], current: [], byHand: [] };
    await clock.until(upgradeNodes({ ...options, drains: true }, plan));
    assert.deepEqual(lines, ['drain a', 'annotate a', 'uncordon a', 'annotate b']);
    assert.deepEqual(said.at(-1), 'node b: Ready with 1.1.0');
  });

  it('stops at the first node that fails, which stays cordoned, and names the nodes that are done and left', async () => {
    const machines = { a: machine(), b: machine(), c: machine() };
    const { clock, lines, options } = clusterOf(machines, failOn('b'));
    const plan = { upgrades: ['a', 'b', 'c'], current: [], byHand: [] };
    await assert.rejects(
      clock.until(upgradeNodes({ ...options, drains: true }, plan)),
      /^Error: node b was not upgraded: the disk is full; upgraded: a; not yet: c; b is still cordoned/,
    );
    assert.ok(!lines.includes('annotate c') && !lines.includes('uncordon b'), lines.join());
  });

  it('gives a node twice the timeout and a minute, and then fails', async () => {
    const { clock, options } = clusterOf({ a: machine() }, () => undefined);
    const start = clock.now();
    const plan = { upgrades: ['a'], current: [], byHand: [] };
    await assert.rejects(
      clock.until(upgradeNodes({ ...options, drains: false }, plan)),
      /it did not become Ready with 1\.1\.0 within 60 s \(--timeout\), and reported no failure within another 120 s/,
    );
    assert.equal(Math.floor((clock.now() - start) / 60_000), 3);
  });
});

describe('upgrade of masters', () => {
  it('upgrades one master after the other, and stops at the first that fails', async () => {
    const machines = { m1: machine(), m2: machine(), m3: machine() };
    const { clock, lines, said, options } = clusterOf(machines, failOn('m2'));
    const plan = { upgrades: ['m1', 'm2', 'm3'], current: [], byHand: [] };
    await assert.rejects(
      clock.until(upgradeMasters(options, plan)),
      /^Error: master m2 was not upgraded: the disk is full; upgraded: m1; not yet: m3, and no node/,
    );
    assert.deepEqual(lines, ['annotate m1', 'annotate m2']);
    assert.ok(!said.includes('master m2: serves with 1.1.0'));
  });
});
