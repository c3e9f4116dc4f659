/**
 * How far the store is now, asked once for all who want to know. A read may use the answer of a question that was sent after
 * the read had come, as it then misses no write that was acknowledged before; never that of one sent earlier. So one
 * question is under way, and one gathers those who come meanwhile. A store that knows without asking is not asked.
 */
import { unlessAborted } from '../base/abort.ts';
import type { Clock, Timer } from '../base/clock.ts';
import type { Store } from '../storage/store.ts';

/** The next question waits for the one under way, but no longer than this: that one may have met a member that is gone. */
const patienceMs = 1000;

type RevisionSource = Pick<Store, 'currentRevision' | 'knownRevision'>;

interface Question {
  readonly answer: PromiseWithResolvers<number>;
  waiting: number;
}

export class LatestRevision {
  readonly #store: RevisionSource;
  readonly #clock: Clock;
  #underWay = 0;
  /** Not sent yet. */
  #next: Question | undefined;
  #timer: Timer | undefined;

  constructor(store: RevisionSource, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Every write acknowledged before the call has at most this revision. Rejects as the store does, or with the signal's reason. */
  async ask(signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    const known = this.#store.knownRevision?.();
    if (known !== undefined) return known;
    this.#next ??= this.#gather();
    const question = this.#next;
    question.waiting++;
    try {
      return await unlessAborted(signal, question.answer.promise);
    } finally {
      question.waiting--;
    }
  }

  #gather(): Question {
    const question: Question = { answer: Promise.withResolvers(), waiting: 0 };
    const send = () => this.#send(question);
    // All that is read in one turn of the event loop has one question.
    if (this.#underWay === 0) this.#clock.soon(send);
    else this.#timer = this.#clock.after(patienceMs, send);
    return question;
  }

  #send(question: Question): void {
    this.#next = undefined;
    this.#timer?.cancel();
    if (question.waiting === 0) return;
    this.#underWay++;
    const { resolve, reject } = question.answer;
    void this.#store
      .currentRevision()
      .then(resolve, reject)
      .finally(() => {
        this.#underWay--;
        if (this.#next) this.#send(this.#next);
      });
  }
}
