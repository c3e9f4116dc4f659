/** Unencapsulated packets between three hosts on one link, with the real API server between them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { ask, pings, refusal, serve, startRig, untilRoutes } from './overlay-rig.ts';

test('three nodes on one link send packets without an overlay', async (context) => {
  const { nodes, node } = await startRig(context);
  const changes = () =>
    node(0)
      .log.of('info')
      .flatMap(({ message, fields }) => (message === 'routes to other nodes changed' ? [fields.nodes] : []));
  for (const each of nodes) {
    await each.register();
    each.start('host-routes');
    // The first node has no other node to report.
    if (each === node(0)) await untilRoutes(each.host, [refusal]);
  }
  const to = (number: number) => `10.244.${number}.0/24 via ${node(number).host.address} dev eth0`;
  await untilRoutes(node(0).host, [refusal, to(1), to(2)]);
  await untilRoutes(node(1).host, [refusal, to(0), to(2)]);
  assert.equal(changes().at(-1), 2);
  assert.ok(
    changes().every((count) => count !== 0),
    String(changes()),
  );
  const pod = await node(0).pod('10.244.0.2', 'host-routes');
  const far = await node(1).pod('10.244.1.2', 'host-routes');
  serve(far, node(1).host);
  await waitFor('an answer', async () => (await ask(pod, far.ip)) === pod.ip);
  assert.ok(await pings(pod, far.ip, '-M', 'do', '-s', String(1500 - 28)));
  assert.equal(await ask(node(0), far.ip), node(0).host.address);

  await context.test('a node that changes to VXLAN is still reached', async () => {
    await node(1).stop();
    node(1).start('vxlan');
    await waitFor('the VXLAN link', async () =>
      (await node(1).host.run('ip', '-json', 'link', 'show', 'type', 'vxlan')).includes('minik8s.vxlan'),
    );
    await waitFor('an answer', async () => (await ask(pod, far.ip)) === pod.ip);
    await untilRoutes(node(0).host, [refusal, to(1), to(2)]);
  });
});
