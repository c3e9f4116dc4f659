/** Options of the control plane reach the parts that need them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Service } from '../../../src/api/core/v1/service/service.ts';
import type { UserInfo } from '../../../src/apiserver/request/user.ts';
import type { ControlPlane } from '../../../src/control-plane/control-plane.ts';
import { admin } from '../../fixtures/api-server.ts';
import { createTestPlane } from '../../fixtures/control-plane.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const nodeUser = (name: string): UserInfo => ({
  name: `system:node:${name}`,
  groups: ['system:nodes', 'system:authenticated'],
});

describe('a control plane whose nodes an administrator approves', () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  let plane: ControlPlane;
  let running: Promise<void>;

  const ask = async (path: string, user: UserInfo, init: RequestInit = {}) => {
    const answering = plane.server.app.fetch(new Request(`http://localhost${path}`, init), { user });
    return clock.until(Promise.resolve(answering));
  };
  const register = async (name: string) => {
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
    const headers = { 'content-type': 'application/json' };
    return (await ask('/api/v1/nodes', nodeUser(name), { method: 'POST', body, headers })).status;
  };

  before(async () => {
    plane = await createTestPlane(clock, {
      nodeApproval: 'manual',
      ownNode: 'own',
      dnsAddress: '10.96.0.77',
    });
    running = plane.run(stop.signal);
    await clock.until(Promise.race([plane.ready, running]));
  });
  after(async () => {
    stop.abort();
    await clock.until(running);
  });

  it('lets its own node register, and no other one by itself', async () => {
    assert.equal(await register('own'), 201);
    assert.equal(await register('other'), 403);
  });

  it('gives the Service of the cluster DNS the address of its options', async () => {
    const address = await eventually(clock, 'the Service of the cluster DNS', async () => {
      const answer = await ask('/api/v1/namespaces/kube-system/services/kube-dns', admin);
      return answer.status === 200 && ((await answer.json()) as Service).spec.clusterIP;
    });
    assert.equal(address, '10.96.0.77');
  });
});
