import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { serviceResource } from '../../../../src/api/core/v1/service/service.ts';
import { silentLogger } from '../../../../src/base/log.ts';
import type { Client } from '../../../../src/client/client.ts';
import {
  addressProblem,
  type ClusterAddresses,
  requireClusterAddresses,
} from '../../../../src/roles/worker/cluster-addresses.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const usual = {
  'service-cidr': '10.96.0.0/16',
  'cluster-dns': undefined,
  'cluster-domain': 'cluster.local',
};
const cluster: ClusterAddresses = { api: '10.96.0.1', dns: '10.96.0.10', domain: 'cluster.local' };

describe("a node's addresses of Services", () => {
  for (const [what, settings, addresses, problem] of [
    ['are accepted if they are those of the cluster', usual, cluster, undefined],
    [
      'are accepted if both differ from the defaults',
      { ...usual, 'cluster-dns': '10.96.0.53' },
      { ...cluster, dns: '10.96.0.53' },
    ],
    ['are accepted if the Services of the cluster could not be read', usual, {}],
    [
      'are rejected if they are of another range',
      { ...usual, 'service-cidr': '10.97.0.0/16' },
      cluster,
      'service-cidr 10.97.0.0/16 is not that of the cluster: the Service kubernetes has address 10.96.0.1, not 10.97.0.1; give this node the service-cidr of the masters',
    ],
    [
      'are rejected if they are of a larger range',
      { ...usual, 'service-cidr': '10.0.0.0/8' },
      cluster,
      'service-cidr 10.0.0.0/8 is not that of the cluster: the Service kubernetes has address 10.96.0.1, not 10.0.0.1; give this node the service-cidr of the masters',
    ],
    [
      'are accepted with the range of IPv6 of the cluster in another spelling',
      { ...usual, 'service-cidr': '10.96.0.0/16,FD00:10:96:0::/112' },
      { ...cluster, rangeIPv6: 'fd00:10:96::/112' },
    ],
    [
      'are accepted if only the cluster, or only the node, has a range of IPv6',
      usual,
      { ...cluster, rangeIPv6: 'fd00:10:96::/112' },
    ],
    [
      'are accepted if the masters are of a version that does not report its range of IPv6',
      { ...usual, 'service-cidr': '10.96.0.0/16,fd00:10:96::/112' },
      cluster,
    ],
    [
      'are rejected if they are of another range of IPv6',
      { ...usual, 'service-cidr': '10.96.0.0/16,fd00:10:97::/112' },
      { ...cluster, rangeIPv6: 'fd00:10:96::/112' },
      'service-cidr 10.96.0.0/16,fd00:10:97::/112 is not that of the cluster: the Service kubernetes has the range fd00:10:96::/112 in its annotation minik8s.io/service-cidr-ipv6; give this node the service-cidr of the masters',
    ],
    [
      'are rejected if the masters set another address of the DNS',
      usual,
      { ...cluster, dns: '10.96.0.53' },
      'cluster-dns 10.96.0.10 is not that of the cluster: the Service kube-dns has address 10.96.0.53; give this node cluster-dns: 10.96.0.53',
    ],
    [
      'are rejected if the masters use the default address of the DNS',
      { ...usual, 'cluster-dns': '10.96.0.53' },
      cluster,
      'cluster-dns 10.96.0.53 is not that of the cluster: the Service kube-dns has address 10.96.0.10; give this node cluster-dns: 10.96.0.10',
    ],
    [
      'are rejected if the cluster has another domain',
      usual,
      { ...cluster, domain: 'lab.internal' },
      'cluster-domain cluster.local is not that of the cluster: the Service kube-dns has domain lab.internal; give this node cluster-domain: lab.internal',
    ],
  ] as const) {
    it(what, () => assert.equal(addressProblem(settings, addresses), problem));
  }

  const asking = (get: () => Promise<unknown>) => {
    const clock = new FakeClock();
    const resource = (ref: unknown) => {
      assert.equal(ref, serviceResource);
      return { get };
    };
    const client = { resource } as unknown as Client;
    return { clock, done: requireClusterAddresses({ client, clock, log: silentLogger }, usual) };
  };

  it('do not prevent a start if no API server answers or if it rejects the request', async () => {
    const { clock, done } = asking(() => new Promise(() => undefined));
    await clock.advance(5_000);
    await done;
    await asking(() => Promise.reject(new Error('forbidden'))).done;
  });

  it('prevent a start if they differ from those of the cluster', async () => {
    await assert.rejects(
      asking(async () => ({ metadata: {}, spec: { clusterIP: '10.1.0.1' } })).done,
      /has address 10\.1\.0\.1, not/,
    );
  });
});
