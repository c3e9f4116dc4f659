/** VXLAN in the kernels of three hosts, with the real API server between them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  macAnnotation,
  modeAnnotation,
  nodeIPAnnotation,
  podCIDRAnnotation,
} from '../../../src/api/core/v1/node/annotations.ts';
import { cleanupNetwork } from '../../../src/network/pod-network.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { removeServiceRules } from '../../../src/service-proxy/proxier.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import type { OverlayNode, TestPod } from './overlay-node.ts';
import {
  ask,
  clusterIP,
  nodePort,
  overLink,
  pings,
  refusal,
  routesOf,
  rulesFor,
  serve,
  startRig,
  untilRoutes,
} from './overlay-rig.ts';

const count = (text: string) => text.split('\n').filter(Boolean).length;

test('three nodes over VXLAN', async (context) => {
  const { hosts, nodes, node } = await startRig(context);
  const [first, second] = [node(0), node(1)];

  await context.test('a node that is alone makes no link', async () => {
    await first.register();
    first.start();
    await untilRoutes(first.host, [refusal]);
    assert.equal(await first.host.run('ip', '-json', 'link', 'show', 'type', 'vxlan'), '[]');
  });

  await context.test('routes follow joining nodes', async () => {
    await second.register();
    second.start();
    await untilRoutes(first.host, [refusal, overLink(1)]);
    await untilRoutes(second.host, [refusal, overLink(0)]);
    await node(2).register();
    node(2).start();
    await untilRoutes(first.host, [refusal, overLink(1), overLink(2)]);
    await untilRoutes(second.host, [refusal, overLink(0), overLink(2)]);
    await untilRoutes(node(2).host, [refusal, overLink(0), overLink(1)]);
    for (const { host } of nodes) assert.equal(await host.run('cat', '/proc/sys/net/ipv4/ip_forward'), '1');
  });

  const pod = await first.pod('10.244.0.2');
  const far = await second.pod('10.244.1.2');
  serve(far, second.host);
  serve(pod, first.host);

  await context.test('a pod reaches a pod of another node with its own address', async () => {
    await waitFor('an answer', async () => (await ask(pod, far.ip)) === pod.ip);
    await waitFor('an answer back', async () => (await ask(far, pod.ip)) === far.ip);
  });

  await context.test(
    'a node reaches a pod of another node, which sees its address on the overlay',
    async () => {
      assert.equal(await ask(first, far.ip), '10.244.0.0');
      // The source address was chosen before the destination was known to be a pod, as with a Service.
      const { stdout } = await first.exec('ping', ['-c', '1', '-W', '1', '-I', first.host.address, far.ip]);
      assert.match(stdout, /1 received/);
    },
  );

  await context.test('an unassigned pod address is refused at once', async () => {
    assert.equal(await ask(pod, '10.244.9.9'), 'EHOSTUNREACH');
    // The kernel reports this to each sender about once a second.
    assert.equal(await ask(far, '10.244.1.99'), 'EHOSTUNREACH');
    assert.equal(await ask(first, '10.244.9.9'), 'EHOSTUNREACH');
  });

  await context.test('a Service on every node leads to pods on every node', async () => {
    await second.serve(rulesFor([pod.ip, far.ip], second));
    await first.serve(rulesFor([pod.ip, far.ip], first));
    const seen = async (from: Pick<TestPod, 'exec'>, address: string, port: number) => {
      const answers = new Set<string>();
      for (let round = 0; round < 16; round++) answers.add(await ask(from, address, 0, port));
      return [...answers].sort();
    };
    // Other pods see a pod under its own address. The pod itself sees the node's address, since otherwise it
    // would receive its own answer.
    assert.deepEqual(await seen(pod, clusterIP, 80), [...[pod.ip, first.host.address]].sort());
    // A node is seen as itself by its own pods, and under its overlay address by the pods of other nodes.
    const ownView = await seen(first, clusterIP, 80);
    assert.ok(ownView.includes('10.244.0.0'), ownView.join());
    assert.equal(ownView.length, 2);
    // Callers of a node port are seen as that node, wherever the pod is.
    const machine = { exec: systemExec };
    for (const { host, number } of [
      { host: first.host, number: 0 },
      { host: second.host, number: 1 },
    ]) {
      const views = await seen(machine, host.address, nodePort);
      assert.ok(views.includes(`10.244.${number}.0`), views.join());
      assert.equal(views.length, 2);
      assert.ok(!views.includes(hosts.outside), views.join());
    }
  });

  await context.test('programs of a node without a default route reach Services', async () => {
    const [way = ''] = (await first.host.run('ip', 'route', 'show', 'default')).split('\n');
    await first.host.run('ip', 'route', 'delete', 'default');
    try {
      assert.equal(await ask(first, '198.51.100.1'), 'ENETUNREACH');
      await first.serve(rulesFor([far.ip], first));
      assert.equal(await ask(first, clusterIP, 0, 80), '10.244.0.0');
      await first.serve(rulesFor([pod.ip], first));
      assert.equal(await ask(first, clusterIP, 0, 80), first.host.address);
    } finally {
      await first.host.run('ip', 'route', 'add', ...way.trim().split(' '));
      await first.serve(rulesFor([pod.ip, far.ip], first));
    }
  });

  await context.test(
    'with externalTrafficPolicy Local the pod sees the caller, and only nodes with a pod accept',
    async () => {
      await first.serve(rulesFor([far.ip], first, true));
      await second.serve(rulesFor([far.ip], second, true));
      const machine = { exec: systemExec };
      assert.equal(await ask(machine, second.host.address, 0, nodePort), hosts.outside);
      assert.equal(await ask(machine, first.host.address, 0, nodePort), 'ECONNREFUSED');
    },
  );

  await context.test(
    'a packet of the maximum size is not fragmented, and a larger one is refused',
    async () => {
      const size = (bytes: number) => ['-M', 'do', '-s', String(bytes - 28)];
      assert.ok(await pings(pod, far.ip, ...size(1450)));
      assert.equal(await pings(pod, far.ip, ...size(1451)), false);
      const fragments = async ({ host }: OverlayNode) => {
        const [names, values] = (await host.run('cat', '/proc/net/snmp'))
          .split('\n')
          .filter((line) => line.startsWith('Ip:'))
          .map((line) => line.split(' '));
        return Number(values?.[names?.indexOf('FragCreates') ?? -1]);
      };
      assert.equal(await ask(pod, far.ip, 30_000_000), '30000000');
      assert.deepEqual([await fragments(first), await fragments(second)], [0, 0]);
    },
  );

  await context.test('only packets of nodes are accepted', async () => {
    // This machine is on the link; it encapsulates a ping as a node would, with its own address as the
    // source. The node's rule must drop the ping until the address is added to the nodes.
    const { outside } = hosts;
    const link = `vx${process.pid}`;
    const make = `link add ${link} address 0a:58:0a:f4:02:00 type vxlan id 1 local ${outside} dstport 8472 nolearning`;
    const neighbour = ['neighbour', 'add', '10.244.0.2', 'lladdr', '0a:58:0a:f4:00:00', 'dev', link];
    try {
      await systemExec('ip', make.split(' '));
      await systemExec('ip', ['link', 'set', link, 'up']);
      await systemExec('ip', neighbour);
      await systemExec('bridge', ['fdb', 'add', '0a:58:0a:f4:00:00', 'dev', link, 'dst', first.host.address]);
      const received = async () => {
        const text = await first.host.run(
          'ip',
          '-json',
          '-statistics',
          'link',
          'show',
          'dev',
          'minik8s.vxlan',
        );
        const [{ stats64 }] = JSON.parse(text) as [{ stats64: { rx: { packets: number } } }];
        return stats64.rx.packets;
      };
      const before = await received();
      const ping = () =>
        systemExec('ping', ['-c', '2', '-W', '1', '-I', link, '10.244.0.2']).catch(() => undefined);
      await ping();
      assert.equal(await received(), before, 'from an address that is not among the nodes');
      // Shows the effect of the rule: without it the same packets arrive.
      await first.host.run('nft', 'add', 'element', 'ip', 'minik8s-vxlan', 'nodes', `{ ${outside} }`);
      await ping();
      assert.ok((await received()) > before, 'from an address among the nodes');
      await first.host.run('nft', 'delete', 'element', 'ip', 'minik8s-vxlan', 'nodes', `{ ${outside} }`);
    } finally {
      await systemExec('ip', ['link', 'delete', link]);
    }
  });

  await context.test('packets of a pod with a foreign source address are dropped', async () => {
    await pod.exec('ip', ['address', 'add', '10.244.0.77/32', 'dev', 'eth0']);
    assert.equal(await pings(pod, first.host.address, '-I', '10.244.0.77'), false);
    assert.equal(await pings(pod, far.ip, '-I', '10.244.0.77'), false);
    assert.ok(await pings(pod, first.host.address));
  });

  await context.test('a restarted agent takes over the existing links and routes', async () => {
    const linkOf = () => first.host.run('ip', '-json', 'link', 'show', 'dev', 'minik8s.vxlan');
    const index = JSON.parse(await linkOf())[0].ifindex;
    await first.stop();
    await untilRoutes(first.host, [refusal, overLink(1), overLink(2)]);
    assert.ok(await pings(pod, far.ip));
    // A route of an earlier run or of an administrator's mistake.
    await first.host.run('ip', 'route', 'add', '10.244.7.0/24', 'via', second.host.address, 'proto', '107');
    await first.host.run('ip', 'route', 'delete', '10.244.2.0/24');
    await first.host.run('nft', 'delete', 'table', 'ip', 'minik8s-vxlan');
    const lines = first.log.lines.length;
    first.start();
    await untilRoutes(first.host, [refusal, overLink(1), overLink(2)]);
    assert.equal(JSON.parse(await linkOf())[0].ifindex, index);
    await waitFor('the guard', async () =>
      (await first.host.run('nft', 'list', 'tables')).includes('minik8s-vxlan'),
    );
    assert.ok(await pings(pod, far.ip));
    assert.deepEqual(
      first.log.lines.slice(lines).filter(({ level }) => level === 'warn'),
      [],
    );
  });

  await context.test(
    'a host that was cut off is reached again as soon as its connection is restored',
    async () => {
      await hosts.cut(second.host);
      assert.equal(await pings(pod, far.ip), false);
      await hosts.heal(second.host);
      await waitFor('the pod behind it', () => pings(pod, far.ip));
    },
  );

  await context.test(
    'a node that leaves is removed from the routes of other nodes, and keeps no routes itself',
    async () => {
      await node(2).unregister();
      await untilRoutes(first.host, [refusal, overLink(1)]);
      await untilRoutes(second.host, [refusal, overLink(0)]);
      await waitFor('nothing left', async () => (await routesOf(node(2).host)) === '');
      assert.equal(await node(2).host.run('ip', '-json', 'link', 'show', 'type', 'vxlan'), '[]');
      assert.doesNotMatch(await node(2).host.run('nft', 'list', 'tables'), /minik8s-vxlan/);
      assert.equal(await first.host.run('bridge', 'fdb', 'show', 'dev', 'minik8s.vxlan').then(count), 1);
      assert.equal(
        await first.host
          .run('ip', 'neighbour', 'show', 'dev', 'minik8s.vxlan', 'nud', 'permanent')
          .then(count),
        1,
      );
    },
  );

  await context.test(
    'a node that claims an address of another node is left out, with a log line',
    async () => {
      // The node's agent would correct the annotations.
      await node(2).stop();
      await node(2).register();
      const annotations = {
        [modeAnnotation]: 'vxlan',
        [macAnnotation]: '0a:58:0a:f4:01:00',
        [podCIDRAnnotation]: node(2).podCIDR,
        [nodeIPAnnotation]: node(2).host.address,
      };
      await node(2).patch({ metadata: { annotations } });
      await waitFor('the line', () =>
        first.log
          .of('warn')
          .some(({ message }) =>
            /^node node-2: node node-1 already has its address .* or its MAC/.test(message),
          ),
      );
      await untilRoutes(first.host, [refusal, overLink(1)]);
      await node(2).unregister();
    },
  );

  await context.test('reset removes links, routes and rules', async () => {
    for (const each of nodes) {
      await each.stop();
      await removeServiceRules(each.exec);
      await cleanupNetwork(each.exec);
      assert.equal(await routesOf(each.host), '');
      assert.equal(await each.host.run('nft', 'list', 'tables'), '');
      assert.doesNotMatch(await each.host.run('ip', '-json', 'link'), /"ifname":"m(ini)?k8s/);
    }
  });
});

test('a machine whose VXLAN port is in use reports it, and continues when the port is free', async (context) => {
  const { node } = await startRig(context);
  const { host } = node(0);
  const other = 'link add name flannel.1 type vxlan id 1 dev eth0 dstport 8472 nolearning';
  await host.run('ip', ...other.split(' '));
  for (const number of [0, 1]) {
    await node(number).register();
    node(number).start();
  }
  await waitFor('the line', () =>
    node(0)
      .log.of('warn')
      .some(({ fields }) =>
        /^link flannel\.1 of this machine takes VXLAN .* remove it/.test(String(fields.error)),
      ),
  );
  assert.match(await host.run('ip', '-json', 'link', 'show', 'type', 'vxlan'), /"ifname":"flannel.1"/);
  await host.run('ip', 'link', 'delete', 'flannel.1');
  await waitFor('the route', async () => (await routesOf(host)).includes(overLink(1)));
});
