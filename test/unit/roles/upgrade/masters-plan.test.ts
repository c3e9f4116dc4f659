import assert from 'node:assert/strict';
import { test } from 'node:test';
import { versionAnnotation } from '../../../../src/api/coordination/v1/master-lease.ts';
import {
  type UpgradeOrder,
  upgradableAnnotation,
  upgradeResultAnnotation,
} from '../../../../src/api/core/v1/node/upgrade.ts';
import { describeMastersPlan } from '../../../../src/roles/upgrade/masters.ts';
import {
  type LeaseFacts,
  masterFailure,
  masterProgress,
  planMasters,
} from '../../../../src/roles/upgrade/masters-plan.ts';

const lease = (
  address: string,
  version: string,
  more: Readonly<Record<string, string>> = { [upgradableAnnotation]: 'true' },
): LeaseFacts => ({
  metadata: { name: `m-${address}`, annotations: { [versionAnnotation]: version, ...more } },
  spec: { holderIdentity: `${address}:6443` },
});

const own = ['127.0.0.1', '10.1.0.1'];

test('the other masters are upgraded in the order of their names, without the master of this machine', () => {
  const leases = ['10.1.0.3', '10.1.0.1', '10.1.0.2'].map((address) => lease(address, '1.0.0'));
  const plan = planMasters(leases, { version: '1.1.0', own });
  assert.deepEqual(plan, { upgrades: ['m-10.1.0.2', 'm-10.1.0.3'], current: [], byHand: [] });
});

test('masters that have the version, and masters that cannot upgrade themselves, are listed', () => {
  const leases = [lease('10.1.0.2', '1.1.0'), lease('10.1.0.3', '1.0.0', {}), lease('10.1.0.4', '1.0.0')];
  const plan = planMasters(leases, { version: '1.1.0', own });
  assert.deepEqual(describeMastersPlan(plan), [
    'master m-10.1.0.3: run minik8s upgrade --file FILE there first',
    'master m-10.1.0.2: has this version',
    'master m-10.1.0.4: upgrade',
  ]);
});

test('a Lease without an address is never that of this machine', () => {
  const nameless = { metadata: { name: 'x' }, spec: { holderIdentity: 'x' } };
  const { byHand } = planMasters([nameless], { version: '1.1.0', own: [] });
  assert.deepEqual(
    byHand.map(({ name }) => name),
    ['x'],
  );
});

const order: UpgradeOrder = { id: '7', version: '1.1.0', sha256: 'a'.repeat(64), timeoutSeconds: 60 };

test('an order is done when the master serves with the version', () => {
  assert.equal(masterProgress(undefined, order), 'waiting');
  assert.equal(masterProgress(lease('10.1.0.2', '1.0.0'), order), 'waiting');
  assert.equal(masterProgress(lease('10.1.0.2', '1.1.0'), order), 'done');
});

test('an order ends with the failure that the master reports, and not with that of an earlier order', () => {
  const at = (id: string) =>
    masterProgress(
      lease('10.1.0.2', '1.0.0', { [upgradeResultAnnotation]: JSON.stringify({ id, error: 'no disk' }) }),
      order,
    );
  assert.deepEqual(at('7'), { error: 'no disk' });
  assert.equal(at('6'), 'waiting');
});

test('the failure of a master names the steps that succeeded, and how to continue or go back', () => {
  assert.equal(
    masterFailure({ name: 'b', error: 'no disk' }, ['a'], ['c']),
    'master b was not upgraded: no disk; upgraded: a; not yet: c, and no node; ' +
      'to go on: minik8s upgrade --nodes; to go back: minik8s upgrade --back, here and on each upgraded master',
  );
});
