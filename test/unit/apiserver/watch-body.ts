/** The body of a watch on a cache and for a client that the test controls. */
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { type ListQuery, parseListQuery } from '../../../src/apimachinery/list-options.ts';
import type { Framing } from '../../../src/apiserver/encoding/framing.ts';
import { selectionOf } from '../../../src/apiserver/reads/selection.ts';
import type { Sink } from '../../../src/apiserver/transport/pushed-body.ts';
import { Turns } from '../../../src/apiserver/turns.ts';
import { type WatchPlan, watchSource } from '../../../src/apiserver/verbs/watch-stream.ts';
import { VersionReader } from '../../../src/apiserver/versions/version-reader.ts';
import { WriteTurns } from '../../../src/apiserver/write-turns.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { Cache, CachedObject, CacheEvent, CacheWatch } from '../../../src/storage/cache.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

export const line = (text: string, bytes = 0) => Buffer.from(`${text.padEnd(bytes - 1)}\n`);

/** Readable frames: the type of the event, the object, and the revision. */
export const framing: Framing = {
  contentType: 'text/plain',
  frame: (type, { key }, revision) => line(`${type} ${key}@${revision}`),
  unchanged: ({ frame }) => frame,
  entered: ({ current, revision }) => line(`ADDED ${current.key}@${revision}`),
  left: ({ revision }, { key }) => line(`DELETED ${key}@${revision}`),
  bookmark: (revision, annotations) =>
    line(`BOOKMARK@${revision}${annotations ? ` ${Object.entries(annotations)}` : ''}`),
  error: ({ message }) => line(`ERROR ${message}`),
};

export const object = (key: string, revision: number): CachedObject => ({
  key,
  revision,
  bytes: Buffer.alloc(10),
  object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: key } } as CachedObject['object'],
  unowned: { apiVersion: 'v1', kind: 'Pod', metadata: { name: key } } as CachedObject['object'],
});

export function changed(key: string, revision: number, bytes?: number): CacheEvent {
  const frame = line(`MODIFIED ${key}@${revision}`, bytes);
  return { type: 'MODIFIED', key, revision, current: object(key, revision), previous: object(key, 1), frame };
}

/** A client that reads when the test requests it. */
export class Client implements Sink {
  #text = '';
  #room = Promise.withResolvers<void>();
  readonly pieces: Uint8Array[] = [];
  written = 0;
  backlog = 0;
  state = 'open';

  write(piece: Uint8Array): void {
    this.pieces.push(piece);
    this.#text += Buffer.from(piece).toString();
    this.written += piece.length;
    this.backlog += piece.length;
  }
  end(): void {
    this.state = 'ended';
  }
  cut(): void {
    this.state = 'cut';
  }
  room(): Promise<void> {
    return this.#room.promise;
  }
  /** Lets the client accept more from now on. */
  makeRoom(): void {
    this.#room.resolve();
  }
  read(bytes = this.backlog): void {
    this.backlog -= bytes;
  }
  get lines(): string[] {
    return this.#text
      .split('\n')
      .slice(0, -1)
      .map((each) => each.trimEnd());
  }
}

export interface Fixture {
  readonly clock: FakeClock;
  readonly client: Client;
  /** Marks every event up to the revision as applied by the cache; `hand` delivers the events later. */
  reach(revision: number): void;
  hand(...events: CacheEvent[]): void;
  /** Lets the cache lose track, so that the watch expires. */
  expire(): void;
  /** True while the watch is subscribed to events. */
  readonly watches: boolean;
  /** Ends the watch as a disconnecting client does. */
  cancel(): void;
}

const noQuery: ListQuery = parseListQuery(new URLSearchParams());

export function open(initial: readonly CachedObject[], over: Partial<WatchPlan> = {}): Fixture {
  const clock = new FakeClock();
  const client = new Client();
  const state = { revision: 10, handedOver: 10, watch: undefined as CacheWatch | undefined };
  const cache = {
    get revision() {
      return state.revision;
    },
    watch(_prefix: string, _after: number, watch: CacheWatch) {
      state.watch = watch;
      const end = () => {
        state.watch = undefined;
      };
      return Object.assign(end, { handedOver: () => state.handedOver });
    },
  } as unknown as Cache;
  const plan: WatchPlan = {
    cache,
    versionReader: new VersionReader(new Turns(clock)),
    clock,
    log: silentLogger,
    turns: new Turns(clock),
    writeTurns: new WriteTurns(clock),
    selection: selectionOf(podResource, '', noQuery),
    enter: () => ({ selection: selectionOf(podResource, '', noQuery), leave: () => undefined }),
    framing,
    after: 10,
    marksInitialEnd: false,
    bookmarks: true,
    timeoutMs: 600_000,
    shutdown: undefined,
    ...over,
  };
  const source = watchSource(plan, initial);
  source.begin(client);
  return {
    clock,
    client,
    reach(revision) {
      state.revision = revision;
    },
    hand(...events) {
      state.revision = Math.max(state.revision, events.at(-1)?.revision ?? 0);
      state.handedOver = state.revision;
      state.watch?.onEvents(events, state.revision);
    },
    expire: () => state.watch?.onExpired(),
    get watches() {
      return state.watch !== undefined;
    },
    cancel: () => source.cancel(),
  };
}
