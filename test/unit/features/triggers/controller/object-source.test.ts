/**
 * Watch of a trigger's objects: where it continues, when it waits, and the connections that it holds open.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configMapResource } from '../../../../../src/api/core/v1/config-map.ts';
import type { KubeObject } from '../../../../../src/apimachinery/meta.ts';
import { newExpired, newForbidden } from '../../../../../src/apimachinery/status-error.ts';
import type {
  Client,
  ClientListOptions,
  ClientWatchOptions,
  WatchEvent,
} from '../../../../../src/client/client.ts';
import type { Trigger } from '../../../../../src/features/triggers/api/trigger.ts';
import type { Happening } from '../../../../../src/features/triggers/api/trigger-event-draft.ts';
import { ObjectSource } from '../../../../../src/features/triggers/controller/object-source.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { at, meta } from '../../../controllers/objects.ts';

type Event = WatchEvent<KubeObject>;

const map = (name: string, resourceVersion: number, seconds = 0): KubeObject =>
  ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    metadata: meta(name, { resourceVersion: String(resourceVersion), creationTimestamp: at(seconds) }),
  }) as KubeObject;

/** A server whose watch events come from the test. */
class World {
  readonly clock = new FakeClock();
  /** Resource version at which each open watch continues. */
  readonly open = new Map<(event: Event | Error | undefined) => void, string | undefined>();
  readonly begun: (string | undefined)[] = [];
  refusal: Error | undefined;
  /** Pages of a list. */
  pages: readonly (readonly KubeObject[])[] = [[]];
  listed = '1';
  isFull = false;
  #room = Promise.withResolvers<void>();
  readonly told: string[] = [];
  /** Promise for which the storing of an event waits. */
  storing: Promise<void> = Promise.resolve();
  readonly stop = new AbortController();
  readonly source: ObjectSource;

  /** Queries of watches and lists. */
  readonly asked: object[] = [];
  /** Problems, one for each change. */
  readonly problems: (string | undefined)[] = [];

  constructor(resourceVersion = '10', object: object = {}) {
    const resource = { watch: (options: ClientWatchOptions) => this.#watch(options), list: this.#list };
    this.source = new ObjectSource(
      {
        trigger: {
          metadata: meta('t'),
          spec: {
            target: { kind: 'Function', name: 'f' },
            object: {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              types: ['Created', 'Updated', 'Deleted'],
              ...object,
            },
          },
        } as unknown as Trigger,
        definition: configMapResource,
        ...{ resourceVersion, at: this.clock.now(), clock: this.clock, random: new SeededRandom(1) },
        client: { resource: () => resource } as unknown as Client,
        isFull: () => this.isFull,
        room: () => this.#room.promise,
        store: async ({ type, subject }: Happening) => {
          await this.storing;
          this.told.push(`${type.split('.').at(-1)} ${subject}`);
        },
        onChange: () => {
          const { message } = this.source.problem ?? {};
          if (message !== this.problems.at(-1)) this.problems.push(message);
        },
      },
      this.stop.signal,
    );
  }

  async *#watch({ signal, ...query }: ClientWatchOptions): AsyncGenerator<Event> {
    const { resourceVersion } = query;
    this.asked.push(query);
    this.begun.push(resourceVersion);
    if (this.refusal) throw this.refusal;
    const queue: (Event | Error | undefined)[] = [];
    let wake = () => {};
    const say = (event: Event | Error | undefined) => {
      queue.push(event);
      wake();
    };
    this.open.set(say, resourceVersion);
    signal.addEventListener('abort', () => {
      this.open.delete(say);
      say(undefined);
    });
    for (;;) {
      while (queue.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      const next = queue.shift();
      if (next === undefined) return;
      if (next instanceof Error) throw next;
      yield next;
    }
  }

  readonly #list = async ({ signal: _, ...query }: ClientListOptions & { signal?: AbortSignal }) => {
    this.asked.push(query);
    const { continue: after } = query;
    const page = Number(after ?? 0);
    const more = page + 1 < this.pages.length ? { continue: String(page + 1) } : {};
    return { items: this.pages[page] ?? [], metadata: { resourceVersion: this.listed, ...more } };
  };

  async say(...events: (Event | Error | undefined)[]): Promise<void> {
    await this.clock.settle();
    assert.equal(this.open.size, 1, 'one watch is open');
    const [say] = this.open.keys();
    for (const event of events) say?.(event);
    await this.clock.settle();
  }

  async makeRoom(): Promise<void> {
    this.isFull = false;
    this.#room.resolve();
    this.#room = Promise.withResolvers();
    await this.clock.settle();
  }
}

describe('a source of objects', () => {
  it('continues after its last reported change, with one watch at a time', async () => {
    const world = new World();
    await world.say({ type: 'ADDED', object: map('a', 11) }, { type: 'BOOKMARK', object: map('', 15) });
    assert.equal(world.source.resourceVersion, '15');
    await world.say(undefined);
    assert.deepEqual([world.begun, world.told], [['10', '15'], ['created a']]);
    world.source.stop();
    await world.clock.settle();
    assert.equal(world.open.size, 0);
  });
  it('counts a change as reported only when its event is stored', async () => {
    const world = new World();
    const stored = Promise.withResolvers<void>();
    world.storing = stored.promise;
    await world.say({ type: 'MODIFIED', object: map('a', 11) }, { type: 'DELETED', object: map('b', 12) });
    assert.deepEqual([world.source.resourceVersion, world.source.hasReported], ['10', false]);
    stored.resolve();
    await world.clock.settle();
    assert.deepEqual([world.source.resourceVersion, world.source.hasReported], ['12', true]);
    assert.deepEqual(world.told, ['updated a', 'deleted b']);
  });
  it('reports a change again if it could not be stored', async () => {
    const world = new World();
    world.storing = Promise.reject(new Error('the store is away'));
    world.storing.catch(() => undefined);
    await world.say({ type: 'ADDED', object: map('a', 11) });
    assert.equal(world.open.size, 0, 'the watch has ended');
    assert.match(world.source.problem?.message ?? '', /the store is away/);
    world.storing = Promise.resolve();
    await world.clock.advance(10_000);
    assert.deepEqual(world.begun, ['10', '10']);
    await world.say({ type: 'ADDED', object: map('a', 11) });
    assert.deepEqual(world.told, ['created a']);
  });
  it('never decreases, even if a later event has a lower version', async () => {
    const world = new World('9');
    await world.say({ type: 'BOOKMARK', object: map('', 20) }, { type: 'ADDED', object: map('a', 11) });
    assert.equal(world.source.resourceVersion, '20');
  });
  it('keeps no watch while too many events wait, and continues when there is room', async () => {
    const world = new World();
    await world.clock.settle();
    world.isFull = true;
    await world.say({ type: 'ADDED', object: map('a', 11) }, { type: 'ADDED', object: map('b', 12) });
    assert.deepEqual([world.open.size, world.told], [0, ['created a']]);
    await world.clock.advance(600_000);
    assert.deepEqual(world.begun, ['10']);
    await world.makeRoom();
    assert.deepEqual([...world.open.values()], ['11']);
  });
  it('reports that its watch is forbidden, retries, and clears the report when it is allowed', async () => {
    const world = new World();
    world.refusal = newForbidden(configMapResource, '', 'no');
    await world.clock.settle();
    assert.equal(world.source.problem?.reason, 'NotAllowed');
    await world.clock.advance(300_000);
    assert.ok(world.begun.length > 3 && world.begun.length < 40, `${world.begun.length}`);
    world.refusal = undefined;
    await world.clock.advance(120_000);
    assert.equal(world.source.problem, undefined);
  });
  it('reports all pages of the remaining objects when the history is lost, and continues after them', async () => {
    const world = new World();
    world.pages = [[map('old', 5), map('new', 40, 60)], [map('changed', 30, -60)], [map('last', 50, 61)]];
    world.listed = '60';
    await world.say(newExpired('too old'));
    assert.deepEqual(world.told, ['updated changed', 'created new', 'created last']);
    assert.deepEqual([...world.open.values()], ['60']);
    assert.match(world.source.missed ?? '', /deleted objects are not reported/);
  });
  it('reports no remaining object twice after an interruption', async () => {
    const world = new World();
    world.pages = [[map('a', 20), map('b', 30)]];
    world.listed = '60';
    await world.clock.settle();
    world.isFull = true;
    await world.say(newExpired('too old'));
    assert.deepEqual(world.told, []);
    await world.makeRoom();
    assert.deepEqual(world.told, ['created a', 'created b']);
    const again = new World();
    again.pages = [[map('a', 20), map('b', 30)]];
    let stores = 0;
    Object.defineProperty(again, 'storing', {
      get: () => (++stores === 2 ? Promise.reject(new Error('the store is away')) : Promise.resolve()),
    });
    await again.say(newExpired('too old'));
    assert.deepEqual([again.told, again.source.resourceVersion], [['created a'], '20']);
    await again.clock.advance(10_000);
    await again.say(newExpired('too old'));
    await again.clock.advance(10_000);
    assert.deepEqual(again.told, ['created a', 'created b']);
  });
  it('does not list without a pause if the history of the last list is lost', async () => {
    const world = new World();
    world.refusal = newExpired('too old');
    // A source that retried without a pause would never come to rest here.
    await world.clock.advance(600_000);
    assert.ok(world.begun.length > 5 && world.begun.length < 60, `${world.begun.length}`);
    world.refusal = undefined;
    await world.clock.advance(60_000);
    assert.equal(world.open.size, 1);
  });
  it('requests only the objects of its namespace and selectors, for a minute or 500 at a time', async () => {
    for (const selectors of [{}, { labelSelector: 'a=b' }, { fieldSelector: 'metadata.name=c' }]) {
      const world = new World('10', selectors);
      world.pages = [[], []];
      await world.say(newExpired('too old'));
      const query = { namespace: 'default', ...selectors };
      assert.deepEqual(world.asked.slice(0, 3), [
        { ...query, resourceVersion: '10', timeoutSeconds: 60 },
        { ...query, limit: 500 },
        { ...query, limit: 500, continue: '1' },
      ]);
      world.source.stop();
    }
  });
  it('ends with the term of its master', async () => {
    const world = new World();
    await world.clock.settle();
    world.stop.abort();
    await world.clock.settle();
    assert.equal(world.open.size, 0);
    await world.clock.advance(60_000);
    assert.deepEqual(world.begun, ['10']);
  });
  it('ignores changes that its source does not select, and moves its position', async () => {
    const world = new World('10', { types: ['Created'] });
    await world.clock.advance(5000);
    await world.say({ type: 'MODIFIED', object: map('a', 11) });
    assert.deepEqual([world.told, world.source.resourceVersion, world.source.hasReported], [[], '11', false]);
    assert.equal(world.source.at, Date.parse(at(5)));
    world.pages = [[map('old', 20, -60)]];
    world.listed = '30';
    await world.say(newExpired('too old'));
    assert.deepEqual([world.told, world.source.resourceVersion, world.source.hasReported], [[], '30', false]);
    assert.deepEqual(world.problems, []);
  });
  it('reports the time range of the lost history', async () => {
    const world = new World();
    await world.clock.advance(5000);
    await world.say(newExpired('too old'));
    assert.equal(
      world.source.missed,
      `the history of changes from ${at(0)} to ${at(5)} is lost: deleted objects are not reported, and each other changed object is reported only in its last state`,
    );
  });
  it('ignores changes that the trigger itself caused, also after a lost history', async () => {
    const world = new World('10', { kind: 'Pod' });
    const owner = { apiVersion: 'minik8s.io/v1', kind: 'Function', name: 'f', uid: 'u', controller: true };
    const own = (name: string, version: number) => {
      const one = map(name, version);
      return { ...one, metadata: { ...one.metadata, ownerReferences: [owner] } } as KubeObject;
    };
    await world.say({ type: 'ADDED', object: own('a', 11) }, { type: 'ADDED', object: map('b', 12) });
    world.pages = [[own('c', 20), map('d', 21)]];
    world.listed = '30';
    await world.say(newExpired('too old'));
    assert.deepEqual(world.told, ['created b', 'created d']);
  });
  it('reports a problem until a watch was not rejected for a second', async () => {
    const world = new World();
    world.refusal = new Error('no route');
    await world.clock.advance(60_000);
    const message = 'the objects cannot be watched: no route';
    assert.deepEqual(world.source.problem, { reason: 'WatchFailed', message });
    assert.deepEqual(world.problems, [message], 'it is not taken back in between');
    world.refusal = undefined;
    while (world.open.size === 0) await world.clock.advance(10);
    await world.clock.advance(989);
    assert.equal(world.source.problem?.message, message);
    await world.clock.advance(11);
    assert.equal(world.source.problem, undefined);
  });
  it('retries soon after a received event, and then lists at once if history is lost', async () => {
    const world = new World();
    world.refusal = new Error('no route');
    await world.clock.advance(300_000);
    world.refusal = undefined;
    await world.clock.advance(60_000);
    await world.say({ type: 'ADDED', object: map('a', 11) }, new Error('cut'));
    assert.equal(world.open.size, 0);
    await world.clock.advance(1000);
    assert.equal(world.open.size, 1, 'after a pause as short as the first');
    for (const version of [20, 30]) {
      world.listed = String(version);
      await world.say(newExpired('too old'));
      assert.deepEqual([...world.open.values()], [String(version)], 'without a pause');
      await world.say({ type: 'ADDED', object: map('b', version + 1) });
    }
  });
});
