/**
 * `ctl cordon`, `uncordon`, `drain` and `taint` beside kubectl 1.32: each tool on nodes of its own, on one
 * server.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Node } from '../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import { type Ctl, kubectlFor, type Result } from '../../fixtures/ctl.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { kubectlsOf, unlessKubectl } from '../../fixtures/kubectls.ts';

interface PodOf {
  readonly name: string;
  /** The pod's node; `a` and `b` are the two nodes. */
  readonly on?: 'a' | 'b';
  readonly controller?: 'ReplicaSet' | 'DaemonSet';
  readonly emptyDir?: boolean;
  readonly grace?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly phase?: 'Succeeded' | 'Failed';
}

interface Scenario {
  readonly what: string;
  readonly pods?: readonly PodOf[];
  /**
   * Commands, run one after the other. `A` and `B` stand for the two nodes, `ROLE` for the label that they
   * share.
   */
  readonly commands: readonly string[];
}

const web: PodOf = { name: 'web', controller: 'ReplicaSet' };
const bare: PodOf = { name: 'bare' };
const data: PodOf = { name: 'data', controller: 'ReplicaSet', emptyDir: true };
const daemon: PodOf = { name: 'daemon', controller: 'DaemonSet' };
const slow: PodOf = { name: 'slow', controller: 'ReplicaSet', grace: 600 };

const scenarios: Scenario[] = [
  {
    what: 'cordon and uncordon, once and again',
    commands: [
      'cordon A',
      'cordon A B',
      'uncordon node/A',
      'uncordon A',
      'cordon -l ROLE',
      'uncordon -l no=such',
    ],
  },
  { what: 'cordon of a node that does not exist', commands: ['cordon A nosuch', 'uncordon nosuch'] },
  { what: 'dry runs', commands: ['cordon A --dry-run=client', 'cordon A --dry-run=server'] },
  {
    what: 'taints set, changed and removed',
    commands: [
      'taint node A a=b:NoSchedule',
      'taint node A a=c:NoSchedule',
      'taint node A a=c:NoSchedule --overwrite',
      'taint nodes A a:NoExecute b:PreferNoSchedule',
      'taint node A b- c=:NoSchedule',
      'taint node A a:NoSchedule- --dry-run=client',
      'taint node A a:NoSchedule- --dry-run=server',
      'taint node A a:NoSchedule-',
      'taint node A a-',
      'taint no A a-',
      'taint node A c:NoExecute-',
      'taint node -l ROLE q=1:NoExecute',
      'taint node A B q-',
    ],
  },
  { what: 'taint of a node that does not exist', commands: ['taint node nosuch a:NoSchedule'] },
  { what: 'an empty node', commands: ['drain A', 'uncordon A'] },
  { what: 'pods with a controller', pods: [web, slow], commands: ['drain A --grace-period=0', 'drain A'] },
  {
    what: 'pods that must be asked for',
    pods: [bare, data, web],
    commands: [
      'drain A',
      'drain A --force',
      'drain A --delete-emptydir-data',
      'drain A --force --delete-emptydir-data',
    ],
  },
  {
    what: 'completed pods of any owner',
    pods: [
      { ...bare, phase: 'Succeeded' },
      { ...data, phase: 'Failed' },
    ],
    commands: ['drain A'],
  },
  {
    what: 'pods of a daemon set that does not exist',
    pods: [daemon, web],
    commands: ['drain A --force --ignore-daemonsets'],
  },
  {
    what: 'some of the pods',
    pods: [
      { ...web, labels: { app: 'web' } },
      { ...web, name: 'other', labels: { app: 'other' } },
    ],
    commands: ['drain A --pod-selector=app=web', 'drain A --pod-selector app!=web'],
  },
  {
    what: 'dry runs of a drain',
    pods: [web, bare],
    commands: [
      'drain A --force --dry-run=client',
      'drain A --force --dry-run=server',
      'drain A --dry-run=server',
    ],
  },
  {
    what: 'a pod that does not end in time',
    pods: [slow, web],
    commands: ['drain A --timeout=1s', 'drain A --timeout=1s --disable-eviction'],
  },
  {
    what: 'pods that should have ended long ago',
    pods: [{ ...slow, grace: 1 }, web],
    commands: [
      'drain A --skip-wait-for-delete-timeout=1 --chunk-size=1',
      'drain A --skip-wait-for-delete-timeout=1',
      'drain A --timeout=1s --disable-eviction',
    ],
  },
  {
    what: 'pods that should have ended long ago, deleted',
    pods: [{ ...slow, grace: 1 }, web],
    commands: ['drain A --skip-wait-for-delete-timeout=1 --disable-eviction'],
  },
  {
    what: 'deletion in place of eviction',
    pods: [web, bare],
    commands: ['drain A --force --disable-eviction'],
  },
  {
    what: 'several nodes, of which one cannot be drained',
    pods: [web, bare, { ...web, name: 'there', on: 'b' }],
    commands: ['drain A B', 'drain -l ROLE --force'],
  },
  {
    what: 'several nodes that cannot be drained',
    pods: [bare, { ...bare, name: 'there', on: 'b' }],
    commands: ['drain A B'],
  },
  { what: 'a node that does not exist, and then nothing is done', pods: [web], commands: ['drain A nosuch'] },
];

/** Wrong command lines: both tools exit with 1, kubectl with a hint. */
const misuse: string[] = [
  'cordon A -l ROLE',
  'taint',
  'taint node A',
  'taint node q:NoSchedule',
  'taint node A a=b',
  'taint node A a:Bad',
  'taint node A a=b:c:d',
  'taint node A a=b=c:NoSchedule',
  'taint node A a:NoSchedule b',
  'taint node A a=%:NoSchedule',
  'taint node A q:NoSchedule q-',
  'taint node A q:NoSchedule p- q:NoSchedule-',
  'taint node -l ROLE --all q:NoSchedule',
  'taint pods A q:NoSchedule',
];

describe('ctl and nodes, beside kubectl 1.32', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let tools: { readonly ours: Ctl; readonly theirs: Ctl };
  let kubeconfig: string;

  before(async () => {
    const world = await startBesideKubectl({ clock: systemClock });
    ({ server, kubeconfig } = world);
    tools = { ours: world.ctl, theirs: world.kubectl };
  });
  after(() => server.stop());

  const create = async (path: string, body: object) => {
    const answer = await server.call('POST', path, body);
    assert.equal(answer.status, 201, answer.text);
  };

  async function makePod(space: string, { name, on = 'a', ...more }: PodOf): Promise<void> {
    const { controller, emptyDir, grace = 0, labels = {}, phase } = more;
    const path = `/api/v1/namespaces/${space}/pods`;
    const owner = { apiVersion: 'apps/v1', kind: controller, name: 'owner', uid: '1', controller: true };
    await create(path, {
      metadata: { name, labels, ...(controller && { ownerReferences: [owner] }) },
      spec: {
        nodeName: `${space}-${on}`,
        terminationGracePeriodSeconds: grace,
        containers: [{ name: 'main', image: 'app:1' }],
        ...(emptyDir && { volumes: [{ name: 'v', emptyDir: {} }] }),
      },
    });
    if (!phase) return;
    const headers = { 'content-type': 'application/merge-patch+json' };
    const answer = await server.call('PATCH', `${path}/${name}/status`, { status: { phase } }, { headers });
    assert.equal(answer.status, 200, answer.text);
  }

  /** Creates a namespace, two nodes and their pods. */
  async function makeSpace(space: string, pods: readonly PodOf[]): Promise<void> {
    await create('/api/v1/namespaces', { metadata: { name: space } });
    for (const node of ['a', 'b']) {
      await create('/api/v1/nodes', { metadata: { name: `${space}-${node}`, labels: { space } } });
    }
    for (const pod of pods) await makePod(space, pod);
  }

  const argv = (space: string, command: string) =>
    command
      .replaceAll(/\bA\b/g, `${space}-a`)
      .replaceAll(/\bB\b/g, `${space}-b`)
      .replaceAll('ROLE', `space=${space}`)
      .split(' ');

  /** Pods are removed concurrently, so the order of lines about them is undefined. */
  const comparable = (space: string, { status, out, err }: Result) => {
    const lines = (text: string) => text.replaceAll(space, 'SPACE').split('\n').map(anyOrder).sort();
    return { status, out: lines(out), err: lines(err) };
  };

  const stateOf = async (space: string) => {
    const nodes = (await server.call('GET', `/api/v1/nodes?labelSelector=space%3D${space}`)).json<{
      items: Node[];
    }>();
    const pods = (await server.call('GET', `/api/v1/namespaces/${space}/pods`)).json<{ items: Pod[] }>();
    return {
      nodes: nodes.items.map(({ spec }) => spec),
      pods: pods.items.map(({ metadata }) => ({
        name: metadata.name,
        leaves: metadata.deletionTimestamp !== undefined,
        grace: metadata.deletionGracePeriodSeconds,
      })),
    };
  };

  scenarios.forEach(({ what, pods = [], commands }, index) => {
    it(what, async () => {
      const spaces = { ours: `ours-${index}`, theirs: `theirs-${index}` };
      const run = async (side: 'ours' | 'theirs') => {
        const space = spaces[side];
        await makeSpace(space, pods);
        const seen: unknown[] = [];
        for (const command of commands) {
          const result = await tools[side](argv(space, command));
          seen.push({ command, ...comparable(space, result), ...(await stateOf(space)) });
        }
        return seen;
      };
      const [ours, theirs] = await Promise.all([run('ours'), run('theirs')]);
      assert.deepEqual(ours, theirs);
    });
  });

  it('rejects wrong command lines with the same messages', async () => {
    await makeSpace('misuse', []);
    for (const command of misuse) {
      const [ours, theirs] = await Promise.all([
        tools.ours(argv('misuse', command)),
        tools.theirs(argv('misuse', command)),
      ]);
      const [line = ''] = theirs.err.split('\n');
      // ctl has its own messages for invalid names and labels.
      const [said, rules] = line
        .replace(' <nil>}', '}')
        .replace('can not', 'cannot')
        .split(/(?<=name part must consist of |a valid label )/);
      if (rules === undefined) assert.equal(ours.err, `${said}\n`, command);
      else assert.ok(ours.err.startsWith(said ?? line), `${command}: ${ours.err}`);
      assert.deepEqual([ours.status, theirs.status], [1, 1], command);
    }
  });

  it('keeps taints that a controller writes at the same moment', async () => {
    await makeSpace('race', []);
    const path = '/api/v1/nodes/race-a';
    const headers = { 'content-type': 'application/strategic-merge-patch+json' };
    const write = async (n: number) => {
      const { metadata, spec } = (await server.call('GET', path)).json<Node>();
      const taints = [...(spec.taints ?? []), { key: `c${n}`, effect: 'NoSchedule' }];
      const body = { metadata: { resourceVersion: metadata.resourceVersion }, spec: { taints } };
      const { status } = await server.call('PATCH', path, body, { headers });
      if (status === 409) await write(n);
    };
    const results = await Promise.all(
      [0, 1, 2].map((n) => tools.ours(argv('race', `taint node A t${n}:NoExecute`))),
    );
    await Promise.all(
      [...results.keys()].map((n) =>
        Promise.all([write(n), tools.ours(argv('race', `taint node A u${n}:NoExecute`))]),
      ),
    );
    const { spec } = (await server.call('GET', path)).json<Node>();
    const keys = spec.taints?.map(({ key }) => key).sort();
    assert.deepEqual(keys, ['c0', 'c1', 'c2', 't0', 't1', 't2', 'u0', 'u1', 'u2']);
  });

  for (const { version, path } of kubectlsOf(['1.20', '1.27', '1.33'])) {
    it(`kubectl ${version} cordons, taints, drains and uncordons`, async () => {
      const space = `kubectl-${version.replace('.', '-')}`;
      await makeSpace(space, [web, bare]);
      const run = async (command: string) => {
        const result = await kubectlFor(kubeconfig, path)(argv(space, command));
        assert.equal(result.status, 0, `${command}: ${result.err}`);
        return result.out.replaceAll(space, 'SPACE');
      };
      assert.equal(await run('cordon A'), 'node/SPACE-a cordoned\n');
      assert.equal(await run('taint node A k=v:NoExecute'), 'node/SPACE-a tainted\n');
      // Old kubectls use another version of eviction, delete pods, and print this for the node.
      assert.match(await run('drain A --force'), /\nnode\/SPACE-a (drained|evicted|deleted)\n$/);
      assert.equal(await run('taint node A k-'), 'node/SPACE-a untainted\n');
      assert.equal(await run('uncordon A'), 'node/SPACE-a uncordoned\n');
      const { nodes, pods } = await stateOf(space);
      assert.deepEqual({ nodes, pods }, { nodes: [{}, {}], pods: [] });
    });
  }
});

/** Lists whose order depends on Go's maps. */
const anyOrder = (line: string) =>
  line.replace(/\[(cannot .*)\]/, (_, list: string) => {
    const errors = list.split(/, (?=cannot )/).sort();
    return `[${errors.join(', ')}]`;
  });
