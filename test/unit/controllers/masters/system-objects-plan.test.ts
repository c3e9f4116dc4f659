/** Corrections of the Service of the API in any state. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Service } from '../../../../src/api/core/v1/service/service.ts';
import { planService } from '../../../../src/controllers/masters/system-objects-plan.ts';
import { meta } from '../objects.ts';

const https = { name: 'https', port: 443, protocol: 'TCP' as const, targetPort: 6443 };
const wanted = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'kubernetes', namespace: 'default' },
  spec: { type: 'ClusterIP', sessionAffinity: 'None', clusterIP: '10.96.0.1', ports: [https] },
} as const satisfies Parameters<typeof planService>[0];

const there = (over: Partial<Service['spec']> = {}): Service => ({
  ...wanted,
  metadata: meta('kubernetes', { labels: { mine: 'yes' } }),
  spec: { ...wanted.spec, ports: [https], clusterIPs: ['10.96.0.1'], ...over },
});
const after = (over: Partial<Service['spec']>) => {
  const plan = planService(wanted, there(over));
  assert.ok(plan.type === 'update', plan.type);
  assert.deepEqual(plan.service.metadata, there().metadata);
  return plan.service.spec;
};

describe('the Service of the API', () => {
  it('is created if it does not exist', () =>
    assert.deepEqual(planService(wanted, undefined), { type: 'create' }));

  it('is unchanged if it is correct, or if only fields differ that do not concern clients', () => {
    for (const over of [
      {},
      { selector: {} },
      { sessionAffinity: 'ClientIP' as const },
      { ports: [{ ...https, targetPort: 7443 }] },
      { type: 'NodePort' as const, ports: [{ ...https, nodePort: 30443 }] },
    ])
      assert.deepEqual(planService(wanted, there(over)), { type: 'none' });
  });

  it('is unchanged while it is being deleted, even if it is wrong', () => {
    const going = there({ clusterIP: '10.96.0.9' });
    going.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    assert.deepEqual(planService(wanted, going), { type: 'none' });
  });

  it('is deleted if it has another address, since an address cannot be changed', () => {
    assert.deepEqual(planService(wanted, there({ clusterIP: '10.96.0.9' })), {
      type: 'remove',
      uid: 'uid-kubernetes',
    });
    assert.deepEqual(planService(wanted, there({ clusterIP: 'None' })), {
      type: 'remove',
      uid: 'uid-kubernetes',
    });
  });

  it('loses only a selector, which would give it other endpoints', () => {
    assert.deepEqual(
      after({ selector: { app: 'mine' }, sessionAffinity: 'ClientIP' }),
      there({ sessionAffinity: 'ClientIP' }).spec,
    );
  });

  it('gets its ports back, each with the node port that it had', () => {
    const [name, port, protocol] = ['other', 6443, 'UDP' as const];
    for (const wrong of [
      { ...https, name },
      { ...https, port },
      { ...https, protocol },
    ])
      assert.deepEqual(after({ ports: [wrong] }).ports, [https]);
    assert.deepEqual(after({ ports: undefined }).ports, [https]);
    const kept = [
      { ...https, name: 'extra', port: 80, nodePort: 30080 },
      { ...https, nodePort: 30443 },
    ];
    assert.deepEqual(after({ ports: kept }).ports, [{ ...https, nodePort: 30443 }]);
  });

  it('keeps its changed type and all addresses when its ports are corrected', () => {
    const over = { type: 'NodePort' as const, clusterIPs: ['10.96.0.1', 'fd00::1'] };
    const { type, clusterIPs } = after({ ...over, ports: [{ ...https, port: 80 }] });
    assert.deepEqual({ type, clusterIPs }, over);
  });

  it('gets its address back if it was changed to an external name', () => {
    const external = {
      type: 'ExternalName' as const,
      externalName: 'evil.example',
      clusterIP: undefined,
      clusterIPs: undefined,
    };
    assert.deepEqual(after(external), there().spec);
    assert.deepEqual(after({ ...external, clusterIP: '10.96.0.9' }).clusterIP, '10.96.0.1');
    assert.deepEqual(after({ clusterIP: '', clusterIPs: [] }).clusterIPs, ['10.96.0.1']);
    const { clusterIP: _, ...unaddressed } = wanted.spec;
    const plan = planService({ ...wanted, spec: unaddressed }, there({ clusterIP: '' }));
    assert.ok(plan.type === 'update');
    assert.deepEqual(plan.service.spec.clusterIPs, []);
  });
});
