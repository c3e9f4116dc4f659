/**
 * Kubernetes' own conformance tests of the network, step by step, on two nodes. For the list see
 * docs/conformance-network.md.
 */
import { test } from 'node:test';
import { systemExec } from '../../src/os/exec.ts';
import { makeNetworkImage } from '../fixtures/network-image.ts';
import { dnsLines } from './conformance/dns.ts';
import { endpointLines } from './conformance/endpoints.ts';
import { podNetworkLines } from './conformance/pod-network.ts';
import { serviceLines } from './conformance/services.ts';
import { image, TestNamespace } from './conformance/test-namespace.ts';
import { MultiCluster } from './harness/multi-cluster.ts';

test('the steps of Kubernetes’ conformance tests of the network succeed', {
  concurrency: 3,
}, async (context) => {
  await makeNetworkImage(image);
  context.after(async () => {
    await systemExec('docker', ['image', 'rm', '-f', image]);
  });
  const cluster = await MultiCluster.start(context, { hosts: 2, images: [image] });
  const lines = [...dnsLines, ...serviceLines, ...endpointLines, ...podNetworkLines];
  await Promise.all(
    lines.map(({ name, steps }) =>
      context.test(name, async (own) => steps(await TestNamespace.create(cluster), own)),
    ),
  );
});
