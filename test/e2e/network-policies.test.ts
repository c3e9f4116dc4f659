/**
 * Network policies on two nodes: each field of NetworkPolicy v1 with an allowed and a dropped packet, from a
 * pod of the same node and from one of the other node.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NetworkingV1Api, type V1NetworkPolicySpec, type V1Pod } from '@kubernetes/client-node';
import { systemExec } from '../../src/os/exec.ts';
import { makeNetworkImage } from '../fixtures/network-image.ts';
import { addressOf, image, type Target, TestNamespace, tcp, udp } from './conformance/test-namespace.ts';
import { MultiCluster } from './harness/multi-cluster.ts';
import { waitFor } from './harness/wait-for.ts';

const every = { podSelector: {} };
const clients = ['near-friend', 'far-friend', 'near-stranger', 'far-stranger'] as const;
type Client = (typeof clients)[number];
const friends: readonly Client[] = ['near-friend', 'far-friend'];
const app = (value: string) => ({ podSelector: { matchLabels: { app: value } } });

interface Rig {
  readonly space: TestNamespace;
  readonly other: TestNamespace;
  readonly server: V1Pod;
  readonly policies: NetworkingV1Api;
}

interface Row {
  readonly name: string;
  readonly spec: (rig: Rig) => V1NetworkPolicySpec;
  readonly target: (ip: string) => Target;
  /** Clients that get an answer. */
  readonly allowed: readonly Client[];
}

const ingress = (...rules: NonNullable<V1NetworkPolicySpec['ingress']>): Row['spec'] => {
  return () => ({ ...app('server'), policyTypes: ['Ingress'], ingress: rules });
};
const web = (ip: string) => tcp(ip, 8080);

const rows: readonly Row[] = [
  { name: 'a policy without rules denies all', spec: ingress(), target: web, allowed: [] },
  { name: 'an empty rule allows all', spec: ingress({}), target: web, allowed: clients },
  { name: 'a selector of pods', spec: ingress({ _from: [app('friend')] }), target: web, allowed: friends },
  {
    name: 'a selector of other namespaces excludes the namespace of the policy',
    spec: ingress({ _from: [{ namespaceSelector: { matchLabels: { team: 'none' } } }] }),
    target: web,
    allowed: [],
  },
  {
    name: 'a selector of pods in all namespaces',
    spec: ingress({ _from: [{ namespaceSelector: {}, ...app('friend') }] }),
    target: web,
    allowed: friends,
  },
  {
    name: 'a port by its number',
    spec: ingress({ _from: [app('friend')], ports: [{ port: 8080, protocol: 'TCP' }] }),
    target: web,
    allowed: friends,
  },
  {
    name: 'another port',
    spec: ingress({ ports: [{ port: 8081, protocol: 'TCP' }] }),
    target: web,
    allowed: [],
  },
  {
    name: 'a port by its name',
    spec: ingress({ ports: [{ port: 'web', protocol: 'TCP' }] }),
    target: web,
    allowed: clients,
  },
  {
    name: 'a range of ports',
    spec: ingress({ ports: [{ port: 8000, endPort: 8090, protocol: 'TCP' }] }),
    target: web,
    allowed: clients,
  },
  {
    name: 'a range that does not contain the port',
    spec: ingress({ ports: [{ port: 8081, endPort: 8090, protocol: 'TCP' }] }),
    target: web,
    allowed: [],
  },
  {
    name: 'UDP and its answers',
    spec: ingress({ _from: [app('friend')], ports: [{ port: 8082, protocol: 'UDP' }] }),
    target: (ip) => udp(ip, 8082),
    allowed: friends,
  },
  {
    name: 'a UDP packet to a port that is allowed for TCP',
    spec: ingress({ ports: [{ port: 8082, protocol: 'TCP' }] }),
    target: (ip) => udp(ip, 8082),
    allowed: [],
  },
  {
    name: 'a block of all addresses except those of the other node',
    spec: ({ server }) => ({
      ...app('server'),
      policyTypes: ['Ingress'],
      ingress: [{ _from: [{ ipBlock: { cidr: '0.0.0.0/0', except: otherRange(server) } }] }],
    }),
    target: web,
    allowed: ['near-friend', 'near-stranger'],
  },
  {
    name: 'denied egress of the pods with the label friend',
    spec: () => ({ ...app('friend'), policyTypes: ['Egress'] }),
    target: web,
    allowed: ['near-stranger', 'far-stranger'],
  },
  {
    name: 'egress to the named port of the server',
    spec: () => ({
      ...every,
      policyTypes: ['Egress'],
      egress: [{ to: [app('server')], ports: [{ port: 'web', protocol: 'TCP' }] }],
    }),
    target: web,
    allowed: clients,
  },
  {
    name: 'egress to another named port of the server',
    spec: () => ({
      ...every,
      policyTypes: ['Egress'],
      egress: [{ to: [app('server')], ports: [{ port: 'names', protocol: 'UDP' }] }],
    }),
    target: web,
    allowed: [],
  },
];

/** The ranges of pods of the node on which the server does not run. */
function otherRange(server: V1Pod): string[] {
  const own = addressOf(server).split('.').slice(0, 3).join('.');
  return ['10.244.0', '10.244.1'].filter((prefix) => prefix !== own).map((prefix) => `${prefix}.0/24`);
}

async function answers(space: TestNamespace, client: string, target: Target): Promise<boolean> {
  try {
    const { protocol, host, port } = target;
    await space.run(client, ['sh', '-c', `timeout 2 netexec ask ${protocol} ${host} ${port}`]);
    return true;
  } catch {
    return false;
  }
}

const reached = async (space: TestNamespace, target: Target, all: readonly string[] = clients) => {
  const found = await Promise.all(all.map((client) => answers(space, client, target)));
  return all.filter((_, index) => found[index]);
};

async function untilReached(space: TestNamespace, target: Target, wanted: readonly string[]): Promise<void> {
  const expected = [...wanted].sort().join();
  await waitFor(`exactly "${expected}" reach ${target.protocol} ${target.host}:${target.port}`, async () => {
    const found = (await reached(space, target)).sort().join();
    if (found === expected) return true;
    throw new Error(`reached by "${found}"`);
  });
}

async function start(cluster: MultiCluster): Promise<Rig> {
  const [space, other] = [await TestNamespace.create(cluster), await TestNamespace.create(cluster)];
  const server = await space.pod('server', {
    labels: { app: 'server' },
    serves: ['tcp:8080', 'udp:8082'],
    ports: [
      { name: 'web', containerPort: 8080, protocol: 'TCP' },
      { name: 'names', containerPort: 8082, protocol: 'UDP' },
    ],
    spec: { nodeName: 'node-0' },
  });
  await Promise.all(
    clients.map((name) =>
      space.pod(name, {
        labels: { app: name.split('-')[1] ?? '' },
        spec: { nodeName: name.startsWith('near') ? 'node-0' : 'node-1' },
      }),
    ),
  );
  return { space, other, server, policies: cluster.kubeConfig().makeApiClient(NetworkingV1Api) };
}

test('network policies are enforced on two nodes', async (context) => {
  await makeNetworkImage(image);
  context.after(async () => {
    await systemExec('docker', ['image', 'rm', '-f', image]);
  });
  const cluster = await MultiCluster.start(context, { hosts: 2, images: [image] });
  const rig = await start(cluster);
  const { space, server, policies } = rig;
  const ip = addressOf(server);
  const namespace = space.name;
  const apply = (name: string, spec: V1NetworkPolicySpec) =>
    policies.createNamespacedNetworkPolicy({ namespace, body: { metadata: { name }, spec } });
  const remove = (name: string) => policies.deleteNamespacedNetworkPolicy({ namespace, name });

  for (const { name, spec, target, allowed } of rows) {
    await context.test(`only permitted clients reach the server: ${name}`, async () => {
      await untilReached(space, target(ip), clients);
      await apply('row', spec(rig));
      await untilReached(space, target(ip), allowed);
      await remove('row');
    });
  }

  await context.test(
    'a policy applies to the client and the pod of a connection through a Service or a NodePort',
    async () => {
      const service = await space.service('server', {
        type: 'NodePort',
        selector: { app: 'server' },
        ports: [{ port: 80, targetPort: 8080 }],
      });
      const clusterIP = service.spec?.clusterIP ?? '';
      const nodePort = service.spec?.ports?.[0]?.nodePort ?? 0;
      await untilReached(space, tcp(clusterIP, 80), clients);
      await apply('service', ingress({ _from: [app('friend')] })(rig));
      await untilReached(space, tcp(clusterIP, 80), friends);
      // Packets of a pod to another node, also to its NodePort, have the address of the pod's node there.
      await untilReached(space, tcp(cluster.hosts.at(0).address, nodePort), ['near-friend']);
      assert.equal(await answers(space, 'server', tcp(clusterIP, 80)), true, 'the server reaches itself');
      await remove('service');
    },
  );

  await context.test('a new pod is isolated from its first packet on', async () => {
    await apply('from-the-start', { ...app('born'), policyTypes: ['Egress'] });
    const script = `netexec ask tcp ${ip} 8080 && echo open || echo closed; sleep 1000`;
    const containers = [
      { name: 'main', image, imagePullPolicy: 'IfNotPresent', command: ['sh', '-c', `timeout 3 ${script}`] },
    ];
    // Several at once: rules that come only after the start still hold for most first packets.
    const names = ['node-0', 'node-1'].flatMap((nodeName) =>
      ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => ({ nodeName, name: `born-${nodeName}-${letter}` })),
    );
    await Promise.all(
      names.map(({ nodeName, name }) =>
        space.createPod(name, { labels: { app: 'born' }, spec: { nodeName, containers } }),
      ),
    );
    for (const { name } of names) {
      const log = await waitFor(`the log of ${name}`, async () => {
        const text = await space.core.readNamespacedPodLog({ namespace, name }).catch(() => '');
        return /open|closed/.exec(text)?.[0];
      });
      assert.equal(log, 'closed', name);
    }
    await remove('from-the-start');
  });

  await context.test('the node restores rules that another program deleted', async () => {
    await apply('flushed', ingress()(rig));
    await untilReached(space, web(ip), []);
    const host = cluster.hosts.at(0);
    await host.run('nft', 'delete', 'table', 'ip', 'minik8s-policies');
    const from = Date.now();
    await waitFor('the rules again', async () => {
      const text = await host.run('nft', 'list', 'tables').catch(() => '');
      return text.includes('minik8s-policies');
    });
    assert.ok(Date.now() - from < 10_000);
    await untilReached(space, web(ip), []);
    await waitFor('an Event', async () => {
      const { items } = await space.core.listEventForAllNamespaces();
      return items.some(({ reason }) => reason === 'NetworkPolicyRulesDeleted');
    });
    await remove('flushed');
  });

  await context.test('each part of the node writes its rules again after a flush of all rules', async () => {
    const host = cluster.hosts.at(0);
    // Docker writes rules into the same chain.
    const rules = async () => {
      const text = await host.run('nft', '--stateless', 'list', 'ruleset');
      const parts = ['proxy', 'network', 'dns', 'vxlan'].map((name) => `table ip minik8s-${name} {`);
      const forwards = /chain FORWARD \{[^}]*jump MINIK8S-FORWARD/.test(text);
      return [...parts.filter((part) => text.includes(part)), ...(forwards ? ['FORWARD'] : [])];
    };
    const before = await rules();
    assert.equal(before.length, 5, before.join());
    await host.run('nft', 'flush', 'ruleset');
    const from = Date.now();
    await waitFor('all tables again', async () => (await rules()).length === before.length, {
      intervalMs: 100,
    });
    const ms = Date.now() - from;
    context.diagnostic(`all rules were back ${ms} ms after the flush`);
    assert.ok(ms < 10_000, `${ms} ms`);
    await untilReached(space, web(ip), clients);
    const subjects = ['Services', 'the pod network', 'cluster DNS', 'the overlay'];
    await waitFor('Events', async () => {
      const { items } = await space.core.listEventForAllNamespaces();
      const told = items.filter(({ reason }) => reason === 'NetworkRulesDeleted').map((one) => one.message);
      return subjects.every((what) => told.some((text) => text?.includes(`the nft rules of ${what};`)));
    });
  });

  await context.test('rules hold while no master answers, and after a restart of the agent', async () => {
    await apply('held', ingress({ _from: [app('friend')] })(rig));
    await untilReached(space, web(ip), friends);
    const node = cluster.node('node-0');
    await node.role.end('SIGTERM');
    const denied = () => host0.run('nft', 'list', 'table', 'ip', 'minik8s-policies');
    const host0 = cluster.hosts.at(0);
    assert.match(await denied(), /goto/);
    await cluster.master.end('SIGTERM');
    await node.role.start();
    await waitFor('rules of the restarted agent', async () => /goto/.test(await denied()));
    await cluster.master.start(/^minik8s is ready: https:/m);
    await cluster.untilReady(node);
    await untilReached(space, web(ip), friends);
    await remove('held');
    await untilReached(space, web(ip), clients);
  });
});
