/** Approval of CertificateSigningRequests and of the Nodes that they are for, where the cache lags. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type CertificateSigningRequest,
  certificateSigningRequestResource,
} from '../../../../src/api/certificates/v1/certificate-signing-request.ts';
import { remoteAddressKey } from '../../../../src/api/certificates/v1/conditions.ts';
import { type Lease, leaseResource } from '../../../../src/api/coordination/v1/lease.ts';
import { type Node, nodeResource } from '../../../../src/api/core/v1/node/node.ts';
import { serviceResource } from '../../../../src/api/core/v1/service/service.ts';
import { newInternalError } from '../../../../src/apimachinery/status-error.ts';
import { csrApproving } from '../../../../src/controllers/certificates/csr-approving.ts';
import { masterLabels } from '../../../../src/controllers/masters/masters-plan.ts';
import type { CertificateRequestContent } from '../../../../src/formats/certificate-request.ts';
import { at, meta, service } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';
import { content, hosts, joining, lease, node, serving } from './csr-requests.ts';

const kind = certificateSigningRequestResource;
const worldOf = (approval: 'auto' | 'manual') =>
  new ScriptedWorld(
    csrApproving({
      approval,
      serviceCidr: '10.96.0.0/16',
      clusterCidr: '10.244.0.0/16',
      clusterDomain: 'cluster.local',
      read: async (text) => JSON.parse(text),
    }),
  );
/** A cluster-scoped CertificateSigningRequest with this specification. */
const asking = (
  request: CertificateSigningRequest,
  wanted: CertificateRequestContent = content(),
): CertificateSigningRequest => ({
  ...request,
  metadata: { ...request.metadata, namespace: undefined },
  spec: { ...request.spec, request: Buffer.from(JSON.stringify(wanted)).toString('base64') },
});
const nodeA = (
  over: Partial<Node> = {},
  addresses: [string, string][] = [['InternalIP', '192.0.2.1']],
): Node => {
  const one = node('a', addresses);
  return { ...one, ...over, metadata: { ...one.metadata, namespace: undefined, ...over.metadata } };
};
const masterLease = (over: Partial<Lease['metadata']> = {}): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: meta('apiserver-1', { namespace: 'kube-system', labels: masterLabels, ...over }),
  spec: { holderIdentity: '192.0.2.10:6443' },
});

let world: ScriptedWorld;
const start = (approval: 'auto' | 'manual', request: CertificateSigningRequest) => {
  world = worldOf(approval);
  world.put(kind, request);
};
const said = () => {
  const { type, reason, message } = world.stored(kind, 'r')?.status?.conditions?.at(-1) ?? {};
  return type && `${type} ${reason}: ${message}`;
};
const owners = (object: CertificateSigningRequest | Node | undefined) =>
  object?.metadata.ownerReferences?.map(
    (owner) => `${owner.apiVersion} ${owner.kind} ${owner.name} ${owner.uid}`,
  );
const decided = (type: string) => {
  const request = world.stored(kind, 'r') ?? assert.fail('no request');
  world.put(kind, { ...request, status: { ...request.status, conditions: [{ type, status: 'True' }] } });
};
const sync = () => {
  world.sync(kind);
  world.sync(nodeResource);
};

describe('a request', () => {
  it('is approved, and keeps its earlier conditions', async () => {
    start('auto', { ...asking(joining()), status: { conditions: [{ type: 'Seen', status: 'True' }] } });
    await world.reconcile('r');
    assert.equal(
      said(),
      'Approved AutoApproved: Auto approving kubelet client certificate of a bootstrap token.',
    );
    assert.equal(world.stored(kind, 'r')?.status?.conditions?.length, 2);
    assert.ok(world.asked.includes('approval CertificateSigningRequest r'));
  });

  it('is reported by an Event if it replaces a lost node at another address', async () => {
    start('auto', asking(joining({ extra: { [remoteAddressKey]: ['10.0.0.9'] } })));
    world.put(nodeResource, nodeA({}, [['InternalIP', '10.0.0.8']]));
    sync();
    await world.reconcile('r');
    assert.match(said() ?? '', /^Approved AutoApproved: /);
    assert.match(world.told.join(), /^Warning NodeReplaced a: the machine at 10\.0\.0\.9 joins as node "a"/);
  });

  it('is denied if it cannot be parsed', async () => {
    const request = asking(joining());
    start('auto', { ...request, spec: { ...request.spec, request: 'e' } });
    await world.reconcile('r');
    assert.equal(said(), 'Denied InvalidRequest: the certificate request cannot be read');
  });

  it('is denied for the name of a running node', async () => {
    start('auto', asking(joining()));
    const alive = lease(-1);
    world.seen.put(leaseResource, { ...alive, metadata: meta('a', { namespace: 'kube-node-lease' }) });
    await world.reconcile('r');
    assert.match(said() ?? '', /^Denied DuplicateNodeName: /);
  });

  const ignored: [string, CertificateSigningRequest][] = [
    ['of an unknown user', asking({ ...joining(), spec: { ...joining().spec, groups: [] } })],
    [
      'that is being deleted',
      { ...asking(joining()), metadata: { ...asking(joining()).metadata, deletionTimestamp: at(1) } },
    ],
    [
      'of another signer that is decided',
      {
        ...asking(joining({ signerName: 'example.com/x' })),
        status: { conditions: [{ type: 'Approved', status: 'True' }] },
      },
    ],
  ];
  for (const [title, request] of ignored)
    it(`${title} is not changed`, async () => {
      start('auto', request);
      await world.reconcile('r');
      assert.deepEqual(world.asked, []);
    });

  it('of another signer that is decided does not affect the Node that it names', async () => {
    const approved = { conditions: [{ type: 'Approved', status: 'True' as const }] };
    start('auto', { ...asking(joining({ signerName: 'example.com/x' })), status: approved });
    world.put(nodeResource, nodeA());
    await world.reconcile('r');
    assert.deepEqual(world.asked, []);
    assert.deepEqual(world.keysOf(kind, asking(joining())), ['r']);
  });

  it('that does not exist causes no request to the server', async () => {
    start('auto', asking(joining()));
    await world.reconcile('other');
    assert.deepEqual(world.asked, []);
  });
});

describe('a request for a serving certificate', () => {
  const request = () => asking(serving('a'), hosts(['a'], ['192.0.2.2']));
  const withMaster = (asked: CertificateSigningRequest) => {
    start('auto', asked);
    world.keysOf(leaseResource, masterLease());
  };

  it('is not denied because the cache shows an old Node', async () => {
    withMaster(request());
    world.seen.put(nodeResource, nodeA());
    world.store(nodeResource, nodeA({}, [['InternalIP', '192.0.2.2']]));
    await world.reconcile('r');
    assert.match(said() ?? '', /^Approved AutoApproved: /);
  });

  it('is approved for the address of its own Node', async () => {
    withMaster(asking(serving('a'), hosts(['a'], ['192.0.2.1'])));
    world.put(nodeResource, nodeA());
    await world.reconcile('r');
    assert.match(said() ?? '', /^Approved /);
  });

  it('is denied for the address of any master, also of an earlier one', async () => {
    for (const ip of ['192.0.2.10', '192.0.2.11']) {
      withMaster(asking(serving('a'), hosts(['a'], [ip])));
      const second = masterLease({ name: 'apiserver-2' });
      world.keysOf(leaseResource, { ...second, spec: { holderIdentity: '192.0.2.11:6443' } });
      await world.reconcile('r');
      assert.match(said() ?? '', /^Denied NotItsAddress: /, ip);
    }
  });

  it('is deleted with its Node after it was decided', async () => {
    withMaster({ ...request(), status: { conditions: [{ type: 'Approved', status: 'True' }] } });
    world.put(nodeResource, nodeA());
    await world.reconcile('r');
    assert.deepEqual(owners(world.stored(kind, 'r')), ['v1 Node a uid-a']);
    sync();
    const before = world.asked.length;
    await world.reconcile('r');
    assert.equal(world.asked.length, before, 'once');
  });

  it('is denied also if the API server denies it', async () => {
    withMaster(request());
    world.put(nodeResource, nodeA());
    await world.reconcile('r');
    assert.match(said() ?? '', /^Denied NotItsAddress: .* does not belong to node a/);
  });

  it('is denied for the address of another node, of a Service of the cluster, and of a master', async () => {
    withMaster(request());
    const other = node('b', [['InternalIP', '192.0.2.2']]);
    world.put(nodeResource, { ...other, metadata: { ...other.metadata, namespace: undefined } });
    await world.reconcile('r');
    assert.match(said() ?? '', /^Denied NotItsAddress: .* belongs to node b/);
    for (const [name, namespace] of [
      ['kubernetes', 'default'],
      ['kube-dns', 'kube-system'],
    ] as const) {
      withMaster(request());
      world.seen.put(serviceResource, {
        ...service({ clusterIP: '192.0.2.2' }),
        metadata: meta(name, { namespace }),
      });
      await world.reconcile('r');
      assert.match(said() ?? '', /^Denied NotItsAddress: .* belongs to a Service of the control plane/);
    }
    withMaster(asking(serving('a'), hosts(['a'], ['192.0.2.10'])));
    await world.reconcile('r');
    assert.match(said() ?? '', /^Denied NotItsAddress: .* belongs to the API server/);
  });

  it('waits until a master has published its address', async () => {
    start('auto', request());
    await world.reconcile('r');
    assert.equal(said(), undefined);
    for (const other of [masterLease({ namespace: 'default' }), masterLease({ labels: {} })])
      assert.deepEqual(world.keysOf(leaseResource, other), []);
    assert.deepEqual(world.keysOf(leaseResource, masterLease()), ['r']);
    await world.reconcile('r');
    assert.match(said() ?? '', /^Approved /);
    assert.deepEqual(world.keysOf(leaseResource, masterLease()), []);
  });
});

describe('a machine that an administrator has to approve', () => {
  const ofRequest = 'certificates.k8s.io/v1 CertificateSigningRequest r uid-r';
  const pending = (): Promise<unknown> => {
    start('manual', asking(joining()));
    return world.reconcile('r');
  };

  it('has a Pending Node; deleting the Node deletes the request, and vice versa', async () => {
    await pending();
    assert.equal(said(), undefined);
    const shown = world.stored(nodeResource, 'a');
    assert.equal(shown?.status?.phase, 'Pending');
    assert.deepEqual(owners(shown), [ofRequest]);
    assert.deepEqual(owners(world.stored(kind, 'r')), [`v1 Node a ${shown.metadata.uid}`]);
    assert.deepEqual(world.keysOf(nodeResource, shown), ['r']);
    sync();
    const before = world.asked.length;
    await world.reconcile('r');
    assert.equal(world.asked.length, before, 'no request until an administrator decides');
  });

  it('is an ordinary Node once it is approved', async () => {
    await pending();
    sync();
    decided('Approved');
    await world.reconcile('r');
    const shown = world.stored(nodeResource, 'a');
    assert.deepEqual([shown?.status?.phase, owners(shown)], [undefined, []]);
  });

  it('is deleted once its request is denied, unless it was replaced', async () => {
    await pending();
    sync();
    decided('Denied');
    const [shown] = world.all(nodeResource);
    assert.ok(shown);
    world.store(nodeResource, { ...shown, metadata: { ...shown.metadata, uid: 'later' } });
    await assert.rejects(world.reconcile('r'), /another by now/);
    world.store(nodeResource, shown);
    await world.reconcile('r');
    assert.deepEqual(world.names(nodeResource), []);
  });

  it('stays when a request with another identity is denied', async () => {
    await pending();
    sync();
    decided('Denied');
    const [shown] = world.all(nodeResource);
    assert.ok(shown);
    const [owner] = shown.metadata.ownerReferences ?? [];
    assert.ok(owner);
    const ownerReferences = [{ ...owner, name: 'first', uid: 'uid-first' }];
    world.put(nodeResource, { ...shown, metadata: { ...shown.metadata, ownerReferences } });
    await world.reconcile('r');
    assert.deepEqual(world.names(nodeResource), ['a']);
    assert.equal(world.stored(nodeResource, 'a')?.status?.phase, 'Pending');
  });

  it('is added to the owners of its request, and to no other request', async () => {
    const request = asking(joining());
    const note = { apiVersion: 'v1', kind: 'ConfigMap', name: 'note', uid: 'uid-note' };
    start('manual', { ...request, metadata: { ...request.metadata, ownerReferences: [note] } });
    await world.reconcile('r');
    assert.deepEqual(
      world.stored(kind, 'r')?.metadata.ownerReferences?.map((owner) => owner.kind),
      ['ConfigMap', 'Node'],
    );
    const other = nodeA();
    assert.deepEqual(
      world.keysOf(nodeResource, { ...other, metadata: { ...other.metadata, name: 'b' } }),
      [],
    );
    const [shown] = world.all(nodeResource);
    assert.deepEqual([shown?.apiVersion, shown?.kind], ['v1', 'Node']);
  });

  it('gets no Node again if its Node was deleted, and its request is deleted', async () => {
    start('manual', asking(joining()));
    const request = asking(joining());
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'former' }];
    world.store(kind, { ...request, metadata: { ...request.metadata, ownerReferences } });
    await world.reconcile('r');
    assert.deepEqual(world.names(nodeResource), []);
  });

  it('is retried if its Node cannot be created', async () => {
    start('manual', asking(joining()));
    world.refuse = (verb) => (verb === 'create' ? newInternalError('no') : undefined);
    await assert.rejects(world.reconcile('r'), /no/);
  });

  it('gets no Node for a deleted request, or if another client has just created it', async () => {
    start('manual', asking(joining()));
    world.take(kind, 'r');
    await world.reconcile('r');
    assert.deepEqual(world.names(nodeResource), []);
    start('manual', asking(joining()));
    world.store(nodeResource, nodeA());
    await world.reconcile('r');
    assert.equal(owners(world.stored(kind, 'r')), undefined);
  });

  it('keeps its Node without an approval if it was in the cluster before', async () => {
    start('manual', asking(joining()));
    const before = world.put(nodeResource, nodeA());
    await world.reconcile('r');
    assert.equal(world.stored(nodeResource, 'a'), before);
    assert.deepEqual(owners(world.stored(kind, 'r')), ['v1 Node a uid-a']);
    sync();
    decided('Denied');
    await world.reconcile('r');
    assert.deepEqual(world.names(nodeResource), ['a'], 'a denial does not cost it');
  });

  it('that renews its certificate without a Node waits, and no Node is created', async () => {
    const { spec, ...rest } = asking(joining());
    start('manual', { ...rest, spec: { ...spec, username: 'system:node:a', groups: ['system:nodes'] } });
    await world.reconcile('r');
    assert.deepEqual([world.names(nodeResource), said()], [[], undefined]);
    assert.deepEqual(world.keysOf(nodeResource, nodeA()), ['r']);
  });

  it('owns a request that was decided before its Node existed', async () => {
    start('auto', { ...asking(joining()), status: { conditions: [{ type: 'Approved', status: 'True' }] } });
    await world.reconcile('r');
    assert.deepEqual(world.keysOf(nodeResource, nodeA()), ['r']);
    world.put(nodeResource, nodeA());
    await world.reconcile('r');
    assert.deepEqual(owners(world.stored(kind, 'r')), ['v1 Node a uid-a']);
    assert.deepEqual(world.keysOf(nodeResource, nodeA()), []);
  });
});
