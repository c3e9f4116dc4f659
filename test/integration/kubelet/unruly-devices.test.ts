/**
 * Devices of a plugin while requests fail. One after the other, each request to the plugin and each creation
 * of a container is refused, is cut off, loses its answer, or is the last one of its agent. No device is
 * allocated twice, and each pod gets its own.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { NodeDevices } from '../../../src/kubelet/devices/node-devices.ts';
import type { ContainerState } from '../../../src/kubelet/runtime/runtime.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { FakeDevicePlugin, pluginOptions, preferring } from '../../fixtures/fake-device-plugin.ts';
import { makePod } from '../../unit/kubelet/builders.ts';

/** `cut`: not executed; `lost`: executed, but not answered; `killed`: executed, and the agent has ended. */
const manners = ['refused', 'cut', 'lost', 'killed'] as const;
type Manner = (typeof manners)[number];

const resource = 'example.com/gpu';
const podWith = (uid: string, count: number) =>
  makePod(
    { containers: [{ name: 'main', image: 'app:1', resources: { limits: { [resource]: String(count) } } }] },
    { uid },
  );
const maxRounds = 8;

/** A node with three devices, whose agents end and start; the class stands in for the rest of the agent. */
class UnrulyDevices {
  /** Pods by uid, with the number of devices that each needs. */
  readonly pods = new Map<string, number>();
  readonly #base = mkdtempSync(join(tmpdir(), 'minik8s-unruly-devices-'));
  readonly #pluginDirectory = join(this.#base, 'plugins');
  readonly #containers: (ContainerState & { isRunning: boolean })[] = [];
  /** Sets of devices that the plugin has prepared for a start: the letters of each set in order. */
  readonly #prepared = new Set<string>();
  readonly #manner: Manner | undefined;
  readonly #at: number;
  #plugin: FakeDevicePlugin | undefined;
  #agent = this.#begin();
  #isDead = false;
  requests = 0;

  private constructor(manner: Manner | undefined, at: number) {
    this.#manner = manner;
    this.#at = at;
  }

  static async start(manner?: Manner, at = -1): Promise<UnrulyDevices> {
    const node = new UnrulyDevices(manner, at);
    mkdirSync(node.#pluginDirectory, { recursive: true, mode: 0o750 });
    const plugin = await FakeDevicePlugin.start(node.#pluginDirectory, 'one.sock', 'a', 'b', 'c');
    const answers = {
      options: () => pluginOptions(true, true),
      preferred: () => preferring('c', 'b'),
      allocate: () => deviceSettings,
      beforeStart: (message: Buffer) => {
        node.#prepared.add(idsIn(message));
        return deviceSettings;
      },
    };
    for (const [method, answer] of Object.entries(answers) as [
      keyof typeof answers,
      typeof answers.beforeStart,
    ][])
      plugin.answers[method] = (message) => {
        const met = node.#next();
        if (met === 'refused') throw new Error('not this time');
        if (met === 'cut') return undefined;
        const frame = answer(message);
        return met === undefined ? frame : undefined;
      };
    node.#plugin = plugin;
    return node;
  }

  /** Returns the devices of the pod's newest container; none where it has no running one. */
  devicesOf(uid: string): readonly string[] {
    const newest = this.#containers.findLast(({ pod }) => pod.uid === uid);
    return newest?.isRunning ? (newest.devices?.[resource] ?? []) : [];
  }

  ends(uid: string): void {
    for (const container of this.#containers) if (container.pod.uid === uid) container.isRunning = false;
  }

  /** Starts the containers of all pods at once, and retries after failures; returns the remaining faults. */
  async settle(): Promise<readonly string[]> {
    for (let round = 1; ; round++) {
      await this.#ready();
      const open = [...this.pods].filter(([uid]) => this.devicesOf(uid).length === 0);
      // Containers are created after all pods have their devices: until then only the agent has a record.
      const given = open.map(([uid, count]) => this.#give(uid, count));
      await Promise.allSettled(given);
      const results = await Promise.allSettled(
        open.map(async ([uid, count], at) => this.#create(uid, count, (await given[at]) ?? [])),
      );
      for (const one of results)
        if (one.status === 'rejected' && one.reason instanceof assert.AssertionError) throw one.reason;
      if (this.#isDead) continue;
      const faults = results.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
      const isFinal = faults.every((fault) => fault.includes('Available: 0'));
      if (isFinal || round === maxRounds) return faults;
    }
  }

  async restart(): Promise<void> {
    await this.#end();
    this.#isDead = false;
    this.#agent = this.#begin();
  }

  get counts() {
    return this.#agent.devices.manager.counts.value.get(resource);
  }

  /** Capacities on disk. */
  get stored(): unknown {
    return JSON.parse(readFileSync(join(this.#base, 'data/devices.json'), 'utf8'));
  }

  /** Resolves to the allocation by an agent whose plugin is not registered yet. */
  async giveEarly(uid: string) {
    await this.#agent.loaded;
    return this.#agent.devices.manager.giveTo(podWith(uid, 1), 'main');
  }

  async close(): Promise<void> {
    await this.#end();
    await this.#plugin?.end();
    rmSync(this.#base, { recursive: true });
  }

  async #give(uid: string, count: number): Promise<readonly string[]> {
    const { ids } = await this.#agent.devices.manager.giveTo(podWith(uid, count), 'main');
    return ids[resource] ?? [];
  }

  #create(uid: string, count: number, given: readonly string[]): void {
    const met = this.#next();
    if (met === 'refused' || met === 'cut') throw new Error('the engine does not create it');
    assert.equal(new Set(given).size, count, `${uid} has ${given}`);
    assert.ok(this.#prepared.has([...given].toSorted().join('')), `${given} were not prepared`);
    for (const other of this.pods.keys())
      if (other !== uid)
        for (const id of this.devicesOf(other)) assert.ok(!given.includes(id), `${id} is given twice`);
    const pod = { uid, name: uid, namespace: 'default' };
    const devices = { [resource]: given };
    const container = { pod, name: 'main', createdAt: this.#containers.length, devices, isRunning: true };
    this.#containers.push(container as unknown as ContainerState & { isRunning: boolean });
    if (met) throw new Error('the connection broke');
  }

  #next(): Manner | undefined {
    if (this.#isDead) return 'cut';
    if (this.requests++ !== this.#at) return undefined;
    this.#isDead = this.#manner === 'killed';
    return this.#manner;
  }

  /** Resolves when an agent runs and has the plugin's devices. */
  async #ready(): Promise<void> {
    for (let attempt = 0; attempt < maxRounds; attempt++) {
      if (this.#isDead) await this.restart();
      if (this.counts?.allocatable === 3) return;
      await this.#agent.loaded;
      await eventually(systemClock, 'the socket of the agent', () =>
        existsSync(join(this.#pluginDirectory, 'kubelet.sock')),
      );
      const isRegistered = await this.#plugin?.register(resource).then(
        () => true,
        () => false,
      );
      if (isRegistered && !this.#isDead)
        await eventually(systemClock, 'the devices', () => this.counts?.allocatable === 3);
    }
    assert.equal(this.counts?.allocatable, 3);
  }

  #begin() {
    const devices = new NodeDevices({
      settings: { rules: [], pluginDirectory: this.#pluginDirectory },
      ...{ dataDir: join(this.#base, 'data'), clock: new FakeClock(), log: silentLogger },
      containers: () => this.#containers,
      isActive: (uid) => this.pods.has(uid),
      hasRuntime: () => false,
    });
    const stop = new AbortController();
    const loaded = devices.load();
    return { devices, stop, loaded, running: loaded.then(() => devices.run(stop.signal)) };
  }

  async #end(): Promise<void> {
    this.#agent.stop.abort();
    await this.#agent.running;
  }
}

/** Empty settings of devices. */
const deviceSettings = Buffer.alloc(5);

/** Returns the letters of the devices in a message, in order. */
const idsIn = (message: Buffer): string => (message.toString().match(/[abc]/g) ?? []).toSorted().join('');

async function scenario(node: UnrulyDevices): Promise<void> {
  node.pods.set('two', 2).set('one', 1);
  assert.deepEqual(await node.settle(), []);
  const before = node.devicesOf('two');
  assert.equal(new Set([...before, ...node.devicesOf('one')]).size, 3);
  // A container that starts again has its former devices.
  node.ends('two');
  assert.deepEqual(await node.settle(), []);
  assert.deepEqual(node.devicesOf('two').toSorted(), before.toSorted());
  // No device is left for another pod until a pod has ended.
  node.pods.set('late', 1);
  const [fault = '', ...more] = await node.settle();
  assert.match(fault, /Requested: 1, Available: 0/);
  assert.deepEqual([more, node.devicesOf('late')], [[], []]);
  const freed = node.devicesOf('one');
  node.ends('one');
  node.pods.delete('one');
  assert.deepEqual(await node.settle(), []);
  assert.deepEqual(node.devicesOf('late'), freed);
  assert.deepEqual(node.counts, { capacity: 3, allocatable: 3 });
  // The next agent has the number of devices, and allocates none before the plugin registers.
  await node.restart();
  await assert.rejects(node.giveEarly('early'), /its device plugin is not registered/);
  assert.deepEqual(node.counts, { capacity: 3, allocatable: 0 });
  assert.deepEqual(node.stored, { [resource]: 3 });
  node.ends('late');
  assert.deepEqual(await node.settle(), []);
  assert.deepEqual(node.devicesOf('late'), freed);
}

it('no device is allocated twice, and each pod gets its own, whichever request fails', async () => {
  const run = async (manner?: Manner, at?: number) => {
    const node = await UnrulyDevices.start(manner, at);
    try {
      await scenario(node);
    } finally {
      await node.close();
    }
    return node.requests;
  };
  const count = await run();
  assert.ok(count > 15, `${count} requests`);
  for (const manner of manners)
    for (let at = 0; at < count; at++)
      try {
        await run(manner, at);
      } catch (error) {
        throw new Error(`request ${at} of ${count}: ${manner}`, { cause: error });
      }
});
