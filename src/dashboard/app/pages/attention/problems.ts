/** The rules of why over the live objects: they run again after a change, and do not block the page. */
import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { featureRules } from '../../../../features/why.ts';
import { explainAll } from '../../../../why/explain.ts';
import { RuleBook } from '../../../../why/rule-book.ts';
import { rules } from '../../../../why/rules/index.ts';
import { Snapshot } from '../../../../why/snapshot.ts';
import { seen } from '../../cluster/seen.ts';
import { inTurns } from '../../cluster/turns.ts';
import { namespace } from '../../shell/scope.ts';
import { type Card, cardsOf, metadataKinds, type Reading, readingOf } from './plan/attention.ts';

export interface Attention {
  readonly cards: readonly Card[];
  readonly unread: readonly string[];
  /** False until all objects were read and explained for the first time. */
  readonly isComplete: boolean;
}

const book = new RuleBook({ ...rules, ...featureRules });

const nothing: Attention = { cards: [], unread: [], isComplete: false };

export const attention = signal<Attention>(nothing);

/** The objects that the rules read, in the namespace that the pages show. */
const reading = computed(() =>
  readingOf(
    (key) => seen(key, { namespace: namespace.value, metadataOnly: metadataKinds.includes(key) }),
    Date.now(),
  ),
);

/** Time without a change after which the rules run, and the longest time that they wait for one. */
const [quietMs, latestMs] = [250, 1500];

/** Explains the objects while the component that calls it is shown. */
export function useAttention(): void {
  useEffect(() => {
    const runner = new Runner();
    const stop = reading.subscribe((read) => runner.changed(read));
    const again = setInterval(() => runner.changed(reading.peek()), 15_000);
    return () => {
      stop();
      clearInterval(again);
      runner.end();
    };
  }, []);
}

/** One run of the rules at a time; changes that come meanwhile start the next one. */
class Runner {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #firstChange: number | undefined;
  #wanted: Reading | undefined;
  #isRunning = false;

  changed(read: Reading): void {
    this.#wanted = read;
    this.#firstChange ??= performance.now();
    const waited = performance.now() - this.#firstChange;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(), Math.max(0, Math.min(quietMs, latestMs - waited)));
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#wanted = undefined;
  }

  async #run(): Promise<void> {
    const read = this.#wanted;
    if (this.#isRunning || !read?.isComplete) return;
    this.#isRunning = true;
    this.#wanted = undefined;
    this.#firstChange = undefined;
    const source = { ...read.source, nowMs: Date.now() };
    const steps = explainAll(new Snapshot(source), book, namespace.peek() || undefined);
    const problems = await inTurns(steps);
    this.#isRunning = false;
    attention.value = { cards: cardsOf(problems ?? []), unread: read.unread, isComplete: true };
    if (this.#wanted) this.changed(this.#wanted);
  }
}
