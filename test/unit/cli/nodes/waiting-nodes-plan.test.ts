/** Machines that wait for admission, by their certificate requests. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { waitingNodes } from '../../../../src/cli/nodes/waiting-nodes-plan.ts';

const serving = 'kubernetes.io/kubelet-serving';
const client = 'kubernetes.io/kube-apiserver-client-kubelet';
const request = (name: string, signerName: string, username: string, more: JsonObject = {}) => ({
  metadata: { name },
  spec: { signerName, username },
  ...more,
});
const ownedBy = (kind: string, name: string, of: string) => ({
  metadata: { name: of, ownerReferences: [{ kind, name }] },
});
const waiting = (...requests: JsonObject[]) => [...waitingNodes(requests)];

describe('machines that wait for admission', () => {
  it('have all their undecided requests, in order', () => {
    const requests = ['a1', 'b1', 'a2'].map((name) => request(name, serving, `system:node:${name[0]}`));
    assert.deepEqual(waiting(...requests), [
      ['a', ['a1', 'a2']],
      ['b', ['b1']],
    ]);
  });

  it('do not include machines whose requests are decided', () => {
    const status = { conditions: [{ type: 'Denied', status: 'True' }] };
    assert.deepEqual(waiting(request('a1', serving, 'system:node:a', { status })), []);
  });

  it('do not include users with requests for other signers', () => {
    assert.deepEqual(waiting(request('a1', 'kubernetes.io/kube-apiserver-client', 'system:node:a')), []);
  });

  it('have the name of the Node that owns the request, not that of the user', () => {
    const owned = request('r', client, 'system:bootstrap:x', ownedBy('Node', 'n1', 'r'));
    assert.deepEqual(waiting(owned), [['n1', ['r']]]);
  });

  it('do not include users that are not nodes, even if a Node owns the request', () => {
    const owned = request('r', client, 'system:bootstrap:x', ownedBy('Pod', 'p', 'r'));
    assert.deepEqual(waiting(owned, request('q', client, 'system:node:')), []);
  });
});
