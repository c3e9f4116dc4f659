/** A watch stream of the etcd in model-etcd.ts. */
import type {
  ResponseHeader,
  WatchRequest,
  WatchResponse,
  WatchStream,
} from '../../../src/storage/etcd-rpc.ts';

type Event = WatchResponse['events'][number];

interface Source {
  readonly header: () => ResponseHeader;
  readonly compacted: () => number;
  /** All events so far, in order. */
  readonly past: () => readonly Event[];
  readonly onEnd: () => void;
}

export class ModelWatch implements WatchStream {
  readonly #source: Source;
  readonly #queue: WatchResponse[] = [];
  #wake = Promise.withResolvers<void>();
  #wanted: WatchRequest['create_request'];
  #ended = false;
  #error: Error | undefined;
  readonly responses: AsyncIterable<WatchResponse>;

  constructor(source: Source) {
    this.#source = source;
    this.responses = this.#read();
  }

  send({ create_request: wanted, progress_request: progress }: WatchRequest): void {
    if (wanted) this.#create(wanted);
    if (progress && this.#wanted) this.say({ watch_id: -1 });
  }

  cancel(): void {
    this.end();
  }

  end(error?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#source.onEnd();
    this.#wake.resolve();
  }

  /** Delivers events while the stream is open: those in its range and not before its start. */
  happened(events: readonly Event[]): void {
    const wanted = this.#wanted;
    if (!wanted) return;
    const own = events.filter(
      ({ kv }) =>
        Number(kv.mod_revision) >= wanted.start_revision &&
        Buffer.compare(kv.key, wanted.key) >= 0 &&
        Buffer.compare(kv.key, wanted.range_end) < 0,
    );
    if (own.length > 0) this.say({ events: own });
  }

  /** Sends a response; missing fields have etcd's usual values. */
  say(response: Partial<WatchResponse>): void {
    this.#queue.push({
      header: this.#source.header(),
      watch_id: 1,
      created: false,
      canceled: false,
      compact_revision: 0,
      cancel_reason: '',
      fragment: false,
      events: [],
      ...response,
    });
    this.#wake.resolve();
  }

  #create(wanted: NonNullable<WatchRequest['create_request']>): void {
    const compacted = this.#source.compacted();
    this.#wanted = wanted;
    this.say({ created: true });
    if (wanted.start_revision < compacted) this.say({ canceled: true, compact_revision: compacted });
    else for (const event of this.#source.past()) this.happened([event]);
  }

  async *#read(): AsyncGenerator<WatchResponse> {
    for (;;) {
      for (let next = this.#queue.shift(); next && !this.#ended; next = this.#queue.shift()) yield next;
      if (this.#error) throw this.#error;
      if (this.#ended) return;
      await this.#wake.promise;
      this.#wake = Promise.withResolvers<void>();
    }
  }
}
