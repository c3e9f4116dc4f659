/**
 * Many watches of a few objects that change at a steady rate: the time until all watches have received every
 * event.
 */
import { connect, type TLSSocket } from 'node:tls';
import { Lane, requestBytes, type Target } from '../lane.ts';
import { watched } from './objects.ts';

export interface WatchWork {
  readonly watchers: number;
  readonly events: number;
  /** Milliseconds between two changes. */
  readonly everyMs: number;
}

export interface Watched {
  /** Number of events that arrived, over all watches. */
  readonly deliveries: number;
  /**
   * Milliseconds from the first change until the last watch had all events, or until no more events arrived.
   */
  readonly ms: number;
  /** Milliseconds until the last change was answered. */
  readonly writtenMs: number;
  /** Number of watches that ended before they had all events. */
  readonly cutOff: number;
}

const objects = 8;
const connectingAtOnce = 20;
/** Timeout after which no more events are expected. */
const quietMs = 5000;
const [newline, carriageReturn] = [10, 13];

class Watcher {
  readonly #socket: TLSSocket;
  #headRead = false;
  #last = 0;
  #onEvent: (count: number) => void = () => undefined;
  readonly opened: Promise<void>;
  ended = false;

  constructor(target: Target, path: string) {
    const { port, ca, key, cert } = target;
    this.#socket = connect({ host: '127.0.0.1', port, ca, key, cert });
    this.opened = new Promise((resolve, reject) => {
      this.#socket.on('data', (chunk: Buffer) => {
        if (!this.#headRead) {
          this.#headRead = true;
          const status = chunk.toString('latin1', 0, 12);
          if (status === 'HTTP/1.1 200') resolve();
          else reject(new Error(`a watch was answered with ${status}`));
        }
        this.#count(chunk);
      });
      this.#socket.on('error', reject);
    });
    this.#socket.on('close', () => {
      this.ended = true;
    });
    this.#socket.write(requestBytes('GET', path));
  }

  listen(onEvent: (count: number) => void): void {
    this.#onEvent = onEvent;
  }

  close(): void {
    this.#socket.destroy();
  }

  /**
   * Counts the events: an event is a line that ends with a newline only; lines of HTTP end with a carriage
   * return too.
   */
  #count(chunk: Buffer): void {
    let count = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) {
      if ((at === 0 ? this.#last : chunk[at - 1]) !== carriageReturn) count++;
    }
    this.#last = chunk.at(-1) ?? 0;
    if (count > 0) this.#onEvent(count);
  }
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export async function watch(target: Target, work: WatchWork): Promise<Watched> {
  const lanes = Array.from({ length: objects }, () => new Lane(target));
  const lister = new Lane(target, true);
  for (const [number, lane] of lanes.entries()) {
    const object = { metadata: { name: `object-${number}` }, data: { count: '0' } };
    // The object exists if this ran before.
    await lane.ask(requestBytes('POST', watched, JSON.stringify(object))).catch((error: Error) => {
      if (!error.message.includes(' 409 ')) throw error;
    });
  }
  const list = JSON.parse(await lister.ask(requestBytes('GET', `${watched}?limit=1`))) as {
    readonly metadata: { readonly resourceVersion: string };
  };
  lister.close();
  const path = `${watched}?watch=true&timeoutSeconds=300&resourceVersion=${list.metadata.resourceVersion}`;
  const watchers: Watcher[] = [];
  while (watchers.length < work.watchers) {
    const some = Array.from(
      { length: Math.min(connectingAtOnce, work.watchers - watchers.length) },
      () => new Watcher(target, path),
    );
    await Promise.all(some.map(({ opened }) => opened));
    watchers.push(...some);
  }
  const result = await change(lanes, watchers, work);
  for (const each of [...watchers, ...lanes]) each.close();
  return result;
}

async function change(lanes: readonly Lane[], watchers: readonly Watcher[], work: WatchWork) {
  let deliveries = 0;
  let lastMs = 0;
  const start = performance.now();
  const got = watchers.map(() => 0);
  for (const [number, watcher] of watchers.entries()) {
    watcher.listen((count) => {
      deliveries += count;
      got[number] = (got[number] ?? 0) + count;
      lastMs = performance.now() - start;
    });
  }
  const writing = lanes.map(async (lane, first) => {
    for (let event = first; event < work.events; event += lanes.length) {
      const early = event * work.everyMs - (performance.now() - start);
      if (early > 0) await wait(early);
      const body = JSON.stringify({ data: { count: `${event}` }, metadata: { labels: { at: `${start}` } } });
      await lane.ask(
        requestBytes('PATCH', `${watched}/object-${first}`, body, 'application/merge-patch+json'),
      );
    }
  });
  await Promise.all(writing);
  const writtenMs = performance.now() - start;
  const all = work.events * watchers.length;
  while (deliveries < all && performance.now() - start - Math.max(lastMs, writtenMs) < quietMs)
    await wait(20);
  const cutOff = watchers.filter(({ ended }, number) => ended && (got[number] ?? 0) < work.events).length;
  return { deliveries, ms: lastMs, writtenMs, cutOff };
}
