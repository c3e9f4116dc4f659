/**
 * Starts a pod with every part that takes several steps, while the agent or its engine is killed at one of
 * the calls between them. The pod must become Ready each time, and nothing may be left after its deletion.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CoreV1EventList, V1Pod } from '@kubernetes/client-node';
import type { Cleanup } from './cluster.ts';
import { type EngineCall, EngineProxy, type Moment } from './engine-proxy.ts';
import type { Host } from './host.ts';
import { helloImage } from './images.ts';
import { type ClusterNode, MultiCluster } from './multi-cluster.ts';
import { mountsBelow, processesNaming } from './processes.ts';
import { waitFor } from './wait-for.ts';

export const victims = ['agent', 'dockerd', 'dockerd --live-restore'] as const;
export type Victim = (typeof victims)[number];

export interface Kill {
  readonly moment: Moment;
  /** Number of the call, from 0, since the pod was created. */
  readonly at: number;
}

export interface Outcome {
  readonly call: EngineCall;
  /** Number of events of each reason for the pod, and number of Event objects. */
  readonly events: ReadonlyMap<string, { readonly objects: number; readonly times: number }>;
  /** Words that the programs of the pod have written, in order. */
  readonly story: readonly string[];
}

const spares = 1;
/** Maximum number of events of one reason, at any moment of the kill. */
const maxEvents = 16;
/** Exit status that Docker reports for a container whose end it missed. */
const endLost = 255;
const patience = { timeoutMs: 60_000, intervalMs: 200 };

const write = (word: string) => `echo ${word} >> /log/story`;
/** Ends as soon as it receives SIGTERM. */
const serve = (word: string) =>
  `trap 'exit 0' TERM; ${write(word)}; touch /tmp/ready; while true; do sleep 0.1; done`;

function podOf(name: string, log: string): object {
  const volumeMounts = [
    { name: 'config', mountPath: '/config' },
    { name: 'token', mountPath: '/token' },
    { name: 'part', mountPath: '/part', subPath: 'of' },
    { name: 'log', mountPath: '/log' },
  ];
  const container = (own: string, script: string, more: object = {}) => ({
    name: own,
    image: helloImage,
    command: ['sh', '-c', `test -s /config/word && test -s /token/token && ${script}`],
    volumeMounts,
    ...more,
  });
  const often = { periodSeconds: 1, exec: { command: ['test', '-e', '/tmp/ready'] } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 5,
      volumes: [
        { name: 'config', configMap: { name: 'words' } },
        { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
        { name: 'part', emptyDir: {} },
        { name: 'log', hostPath: { path: log } },
      ],
      initContainers: [
        container('first', write('first')),
        container('side', serve('side'), { restartPolicy: 'Always' }),
        container('second', write('second')),
      ],
      containers: [
        container('main', serve('main'), {
          lifecycle: { postStart: { exec: { command: ['sh', '-c', write('hook')] } } },
          readinessProbe: often,
        }),
      ],
    },
  };
}

export class KillWalk {
  readonly #victim: Victim;
  readonly #cluster: MultiCluster;
  readonly #node: ClusterNode;
  readonly #proxy: EngineProxy;
  #pods = 0;

  private constructor(victim: Victim, cluster: MultiCluster, node: ClusterNode, proxy: EngineProxy) {
    this.#victim = victim;
    this.#cluster = cluster;
    this.#node = node;
    this.#proxy = proxy;
  }

  static async start(cleanup: Cleanup, victim: Victim): Promise<KillWalk> {
    const dockerFlags = victim === 'dockerd --live-restore' ? ['--live-restore'] : [];
    const cluster = await MultiCluster.start(cleanup, { hosts: 1, nodes: [], dockerFlags });
    const { kubectl } = cluster;
    const host = cluster.hosts.at(0);
    const proxy = new EngineProxy(host.dockerSocket);
    const socket = join(host.directory, 'proxy.sock');
    await proxy.listen(socket);
    host.after(() => proxy.close());
    const node = await cluster.join(0, { 'docker-socket': socket, 'sandbox-pool': spares });
    await kubectl('create', 'configmap', 'words', '--from-literal=word=yes');
    const walk = new KillWalk(victim, cluster, node, proxy);
    await waitFor('an account', async () => (await kubectl('get', 'serviceaccount', 'default')) !== '');
    await walk.#nothingLeft();
    return walk;
  }

  /** Resolves to undefined if that call was not reached. Rejects if the pod is not in the expected state. */
  async step({ moment, at }: Kill): Promise<Outcome | undefined> {
    const { kubectl } = this.#cluster;
    const name = `pod-${this.#pods++}`;
    const log = join(this.#host.directory, name);
    mkdirSync(log);
    let calls = 0;
    let struck: { readonly call: EngineCall; readonly back: Promise<void> } | undefined;
    this.#proxy.onCall = (call) => {
      if (calls++ !== at) return undefined;
      const killed = Promise.withResolvers<void>();
      const back = killed.promise.then(() => this.#revive());
      back.catch(() => undefined);
      struck = { call, back };
      return { moment, act: () => this.#kill().then(killed.resolve, killed.reject) };
    };
    try {
      const { code, stderr } = await kubectl.attempt(['create', '-f', '-'], {
        input: JSON.stringify(podOf(name, log)),
      });
      assert.equal(code, 0, stderr);
      await this.#untilReady(name);
      await struck?.back;
      await this.#untilReady(name);
      const uid = await kubectl('get', 'pod', name, '-o', 'jsonpath={.metadata.uid}');
      // The engine may be killed during a check; a program that ran too often cannot recover.
      const story = await waitFor(
        'the pod in its expected state',
        async () => {
          const words = storyIn(log);
          await this.#asItHasToBe(name, uid, words);
          return words;
        },
        patience,
      );
      await kubectl('delete', 'pod', name, '--wait=true', '--timeout=60s');
      await struck?.back;
      // An engine that is killed after the check ends the containers, which are then started again until the
      // pod is deleted.
      const whole = storyIn(log);
      const seen = this.#victim === 'dockerd' ? whole.slice(0, story.length) : whole;
      assert.deepEqual(seen, story, 'after its end');
      this.#proxy.onCall = () => undefined;
      await this.#nothingLeft();
      const events = await this.#eventsOf(uid);
      for (const [reason, { times }] of events)
        assert.ok(times <= maxEvents, `${reason} was reported ${times} times`);
      return struck && { call: struck.call, events, story };
    } catch (error) {
      const what = `${this.#victim} killed ${moment} call ${at}, ${struck?.call ?? 'which did not come'}`;
      const log = this.#node.role.log.split('\n').slice(-15);
      throw new Error([`${what}: ${String(error)}`, await this.#said(name), ...log].join('\n'), {
        cause: error,
      });
    } finally {
      this.#proxy.onCall = () => undefined;
    }
  }

  get #host(): Host {
    return this.#node.host;
  }

  async #kill(): Promise<void> {
    if (this.#victim === 'agent') {
      await this.#node.role.end('SIGKILL');
      return;
    }
    await this.#host.killDocker();
    this.#proxy.cut();
  }

  async #revive(): Promise<void> {
    if (this.#victim === 'agent') await this.#node.role.start();
    else await this.#host.startDocker();
  }

  async #untilReady(name: string): Promise<void> {
    await this.#cluster.kubectl('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=50s');
  }

  /**
   * Each step must have run once. It may run again only in a new sandbox after a lost one, or if the
   * engine lost its exit status.
   */
  async #asItHasToBe(name: string, uid: string, story: readonly string[]): Promise<void> {
    const { status } = await this.#cluster.kubectl.json<V1Pod>('get', 'pod', name);
    const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    for (const { name: own, restartCount, lastState } of statuses) {
      const isLost = this.#victim === 'dockerd' || lastState?.terminated?.exitCode === endLost;
      assert.ok(restartCount <= (isLost ? 1 : 0), `${own} restarted ${restartCount} times`);
      const times = story.filter((word) => word === own).length;
      assert.ok(times >= 1 && times <= 1 + restartCount, `${own} began ${times} times: ${story}`);
    }
    const last = [...new Set(story.toReversed())].filter((word) =>
      ['first', 'second', 'main'].includes(word),
    );
    assert.deepEqual(last, ['main', 'second', 'first'], `out of turn: ${story}`);
    const hooks = story.filter((word) => word === 'hook').length;
    assert.ok(hooks >= 1 && hooks <= 2, `the hook ran ${hooks} times: ${story}`);
    const running = await this.#list(['--filter', `label=io.kubernetes.pod.uid=${uid}`], 'containers');
    assert.deepEqual(running.toSorted(), ['main', 'side']);
    for (const own of running)
      await waitFor(`${own} to be called ${name}`, async () => {
        const said = await this.#cluster.kubectl('exec', name, '-c', own, '--', 'hostname');
        return said.trim() === name;
      });
    const sandboxes = await this.#list(['--filter', `name=k8s_POD_${name}_`], 'names');
    assert.equal(sandboxes.length, 1, `sandboxes ${sandboxes}`);
  }

  /** Returns details for the analysis of a failure. */
  async #said(name: string): Promise<string> {
    const { kubectl } = this.#cluster;
    const { stdout: pod } = await kubectl.attempt(['get', 'pod', name, '-o', 'jsonpath={.status}']);
    const events = await kubectl.attempt([
      'get',
      'events',
      '--field-selector',
      `involvedObject.name=${name}`,
    ]);
    return `${pod}\n${events.stdout}`;
  }

  async #list(flags: readonly string[], what: 'containers' | 'names'): Promise<string[]> {
    const format = what === 'names' ? '{{.Names}}' : '{{.Label "io.kubernetes.container.name"}}';
    // The engine may be unavailable.
    const lines = await waitFor('the containers', async () => [
      await this.#host.docker('ps', '--format', format, ...flags),
    ]);
    return lines.flatMap((text) => text.split('\n')).filter(Boolean);
  }

  async #eventsOf(uid: string): Promise<Outcome['events']> {
    const { items } = await this.#cluster.kubectl.json<CoreV1EventList>(
      ...['get', 'events', '--field-selector', `involvedObject.uid=${uid}`],
    );
    const all = new Map<string, { objects: number; times: number }>();
    for (const { reason = '', count = 1 } of items) {
      const before = all.get(reason) ?? { objects: 0, times: 0 };
      all.set(reason, { objects: before.objects + 1, times: before.times + count });
    }
    return all;
  }

  /** Waits until nothing is left except unused sandboxes that wait for a pod. */
  async #nothingLeft(): Promise<void> {
    let left: readonly string[] = [];
    await waitFor(
      'the removal of all parts of the pod',
      async () => {
        left = await this.#left();
        return left.length === 0;
      },
      patience,
    ).catch(() => assert.deepEqual(left, [], 'left behind'));
  }

  async #left(): Promise<string[]> {
    const host = this.#host;
    const containers = (await host.docker('ps', '--all', '--format', '{{.Names}} {{.State}}'))
      .split('\n')
      .filter(Boolean);
    const links = (JSON.parse(await host.run('ip', '-json', 'link')) as { readonly ifname: string }[])
      .map(({ ifname }) => ifname)
      .filter((link) => link.startsWith('mk8s'));
    const containerd = ['--address', join(host.directory, 'containerd.sock'), '--namespace', 'moby'];
    const tasks = (await host.run('ctr', ...containerd, 'tasks', 'ls', '-q')).split('\n').filter(Boolean);
    const shims = processesNaming(`${host.directory}/containerd.sock`).filter((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('containerd-shim'),
    );
    const data = join(this.#node.dataDir, 'kubelet');
    return [
      ...containers.filter((line) => line.startsWith('k8s_') || !line.endsWith(' running')),
      ...countOf('containers', containers),
      ...countOf('links', links),
      ...countOf('tasks', tasks),
      // An engine that is killed during a start may leave an empty shim in containerd.
      ...(this.#victim === 'agent' ? countOf('shims', shims.map(String)) : []),
      ...mountsBelow(this.#node.dataDir),
      ...['pods', 'volume-subpaths'].flatMap((place) => entriesOf(join(data, place))),
    ];
  }
}

const storyIn = (log: string) => readFileSync(join(log, 'story'), 'utf8').trim().split('\n');

const countOf = (what: string, found: readonly string[]) =>
  found.length === spares ? [] : [`${what}: ${found.length}: ${found.join(', ')}`];

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory).map((entry) => join(directory, entry));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
