/**
 * Tests the default times after which a node counts as lost; the tests of the controllers use the same times.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { planNode } from '../../../../src/controllers/nodes/node-lifecycle-plan.ts';
import { defaultTolerations } from '../../../../src/kube-apiserver/admission/default-toleration-seconds.ts';
import { newLease } from '../../../../src/kubelet/node/plan/node-status.ts';
import { settingRows } from '../../../../src/roles/settings/setting-table.ts';
import { readSettings } from '../../../../src/roles/settings/settings.ts';
import { at, node } from '../../controllers/objects.ts';

const shipped = readSettings(settingRows('control plane', 'node'), {
  command: 'minik8s up',
  flags: {},
  environment: {},
  configFile: '/no/such/node.yaml',
});
const [grace, heartbeat] = [shipped['node-monitor-grace-period'], shipped['heartbeat-interval']];

it('a node without heartbeats counts as lost after 40 s, as upstream, and not earlier', () => {
  const after = (silence: number) =>
    planNode({ node: node('n1'), silence, grace, disruption: 'none', now: at(1000) });
  assert.deepEqual([after(39_999).lost, after(39_999).lostIn], [false, 1]);
  assert.deepEqual([after(40_000).lost, after(40_000).lostIn], [true, undefined]);
});

it('a node may miss three heartbeats, and its Lease has expired when the node counts as lost', () => {
  assert.ok(3 * heartbeat < grace && 4 * heartbeat >= grace);
  assert.equal(newLease(node('n1'), heartbeat, 0).spec.leaseDurationSeconds, grace / 1000);
});

it('pods stay on a lost node for five more minutes, as upstream', () => {
  assert.deepEqual(defaultTolerations, { notReadySeconds: 300, unreachableSeconds: 300 });
  assert.equal(shipped['default-not-ready-toleration-seconds'], 300);
  assert.equal(shipped['default-unreachable-toleration-seconds'], 300);
});
