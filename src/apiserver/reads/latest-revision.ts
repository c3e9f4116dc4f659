/**
 * Latest revision of the store, with one request shared by concurrent readers. A read may use the answer to a
 * request that was sent after the read began, because that answer includes every write that was acknowledged
 * before; it must not use an earlier one. So at most one request is in progress, and one collects the readers
 * that arrive meanwhile. A store that tracks its revision needs no request. Readers of one answer continue in
 * pieces: a thousand waiting lists must not be one turn of the event loop.
 */
import { unlessAborted } from '../../base/abort.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { inTurns, type NextPiece } from '../../base/event-loop/pieces.ts';
import type { Store } from '../../storage/store.ts';

/**
 * Timeout in milliseconds after which the next request is sent even if the previous one is in progress, which
 * may have reached a member that is down.
 */
const patienceMs = 1000;

type RevisionSource = Pick<Store, 'currentRevision' | 'knownRevision'>;

interface Question {
  readonly answer: PromiseWithResolvers<number>;
  waiting: number;
}

export class LatestRevision {
  readonly #store: RevisionSource;
  readonly #clock: Clock;
  readonly #nextPiece: NextPiece;
  #underWay = 0;
  /** Request that has not been sent yet. */
  #next: Question | undefined;
  #timer: Timer | undefined;

  constructor(store: RevisionSource, clock: Clock, nextPiece: NextPiece = inTurns(clock)) {
    this.#store = store;
    this.#clock = clock;
    this.#nextPiece = nextPiece;
  }

  /**
   * Returns a revision that includes every write acknowledged before the call. Rejects as the store does, or
   * with the signal's reason.
   */
  async ask(signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    const known = this.#store.knownRevision?.();
    if (known !== undefined) return known;
    this.#next ??= this.#gather();
    const question = this.#next;
    question.waiting++;
    let revision: number;
    try {
      revision = await unlessAborted(signal, question.answer.promise);
    } finally {
      question.waiting--;
    }
    await this.#nextPiece();
    signal.throwIfAborted();
    return revision;
  }

  #gather(): Question {
    const question: Question = { answer: Promise.withResolvers(), waiting: 0 };
    const send = () => this.#send(question);
    // All reads of one turn of the event loop share one request.
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
