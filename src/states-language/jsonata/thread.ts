/**
 * Evaluates JSONata on a thread of its own, because an expression is a program that may loop forever or
 * exhaust the memory. Questions are answered one after another. A question that takes too long ends with its
 * thread, and the next one starts a new thread. Askers take turns, so that no asker waits for all questions
 * of another.
 */
import type { Worker } from 'node:worker_threads';
import { AskerTurns } from '../../base/asker-turns.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { startThread } from '../../os/thread.ts';
import type { Json } from '../json.ts';
import type { Question } from './expression.ts';

/** Expressions to parse. */
export interface Reading {
  readonly expressions: readonly string[];
}

/** Answer of the thread to a question. */
export type Answer =
  | { readonly json: string }
  | { readonly refusal: string }
  | { readonly problems: readonly (string | undefined)[] };

export interface ExpressionThread {
  /**
   * Evaluates an expression. `asker` identifies the caller for taking turns. Rejects with an Error whose
   * message states why the expression has no value.
   */
  evaluate(question: Question, asker?: string): Promise<Json>;
  /** Returns the fault of each expression, or undefined for a valid one. Rejects if this takes too long. */
  problemsOf(expressions: readonly string[], asker?: string): Promise<readonly (string | undefined)[]>;
  /** Ends the thread. Waiting questions are rejected; a later question starts a new thread. */
  stop(): Promise<void>;
}

/**
 * Timeout in milliseconds. The library stops an expression earlier; this timeout covers what it cannot stop,
 * and the start of the thread.
 */
const patienceMs = 6000;
/** Milliseconds after which an idle thread ends. */
const idleMs = 30_000;
/** Maximum heap in megabytes. */
const maxMemory = 96;

const source = new URL('./worker.ts', import.meta.url);

export function createExpressionThread(clock: Clock): ExpressionThread {
  let worker: Worker | undefined;
  let idle: Timer | undefined;
  const turns = new AskerTurns();
  let stops = 0;

  const end = async () => {
    const ended = worker;
    worker = undefined;
    idle?.cancel();
    ended?.ref();
    await ended?.terminate();
  };

  const ask = async (question: Question | Reading): Promise<Answer> => {
    idle?.cancel();
    worker ??= beginThread();
    worker.ref();
    const reply = await replyOf(worker, question, clock).catch(async (error: unknown) => {
      await end();
      throw error;
    });
    // An idle thread must not keep the process alive.
    worker?.unref();
    idle = clock.after(idleMs, () => void end());
    if ('refusal' in reply) throw new Error(reply.refusal);
    return reply;
  };

  const inTurn = (question: Question | Reading, asker: string): Promise<Answer> => {
    const asked = stops;
    return turns.inTurn(asker, async () => {
      if (asked !== stops) throw new Error('the evaluation was stopped');
      return ask(question);
    });
  };

  return {
    async evaluate(question, asker = '') {
      const answer = await inTurn(question, asker);
      if (!('json' in answer)) throw new Error('the thread answered an evaluation with problems');
      return JSON.parse(answer.json);
    },
    async problemsOf(expressions, asker = '') {
      const answer = await inTurn({ expressions }, asker);
      if (!('problems' in answer)) throw new Error('the thread answered a check with a value');
      return answer.problems;
    },
    async stop() {
      stops++;
      await end();
    },
  };
}

function beginThread(): Worker {
  const worker = startThread('jsonata-worker', source, {
    resourceLimits: { maxOldGenerationSizeMb: maxMemory },
  });
  // An error between two questions would end this process if there were no listener.
  return worker.on('error', () => undefined);
}

async function replyOf(worker: Worker, question: Question | Reading, clock: Clock): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const onMessage = (answer: Answer) => resolve(answer);
  const onError = (error: unknown) => reject(new Error(`the thread ended: ${messageOf(error)}`));
  const onExit = () => reject(new Error('the evaluation was stopped'));
  worker.once('message', onMessage).once('error', onError).once('exit', onExit);
  const late = clock.after(patienceMs, () => reject(new Error(`it took longer than ${patienceMs / 1000} s`)));
  worker.postMessage(question);
  try {
    return await promise;
  } finally {
    late.cancel();
    worker.off('message', onMessage).off('error', onError).off('exit', onExit);
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
