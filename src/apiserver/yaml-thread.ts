/**
 * YAML is read and written on a thread of its own: its parser takes a hundred times as long as that of JSON, for some texts far
 * longer, and nobody can tell from a text before. Hardly any client sends it, so the thread begins and ends with the text.
 * Users take turns, short texts have a line of their own, and what waits of one user is bounded.
 */
import { type ParsedText, parseJson } from '../apimachinery/json-decode.ts';
import {
  newBadRequest,
  newInternalError,
  newStatusError,
  type StatusError,
} from '../apimachinery/status-error.ts';
import { TextError } from '../apimachinery/value-limit.ts';
import { AskerTurns } from '../base/asker-turns.ts';
import type { Clock } from '../base/clock.ts';
import { errorMessage } from '../base/log.ts';
import { startThread } from '../base/thread.ts';

/** What the thread is asked: the text is YAML to be read, or JSON to be written as YAML. */
export interface YamlTask {
  readonly type: 'read' | 'write';
  readonly text: string;
}

/** What it answers. */
export type YamlAnswer =
  | { readonly json: string; readonly duplicates: readonly string[] }
  | { readonly yaml: string }
  | { readonly refusal: string };

/** `user`: the name of the user with whose other texts it takes turns. */
export type ReadYaml = (text: string, user: string) => Promise<ParsedText>;
/** Rejects with a StatusError. */
export type WriteYaml = (json: string, user: string) => Promise<string>;

/** An honest text of three megabytes takes two seconds. */
const patienceMs = 10_000;
/** Megabytes of heap. */
const mostMemory = 256;
/** Characters of a short text: an honest one takes less than 100 ms, so it must not wait for seconds behind a long one. */
const short = 64 * 1024;
const shortPatienceMs = 5000;
/** Texts and characters of one user that wait or are being read: as many as a few largest bodies. */
const mostWaiting = { texts: 16, characters: 10 * 1024 * 1024 };
const retryAfterSeconds = 2;

const source = new URL('./yaml-worker.ts', import.meta.url);

/**
 * Reads texts of users in turn. Rejects with TextError, with a StatusError for one that costs too much, and with
 * TooManyRequests for a user of whom too much waits already.
 */
export function createYamlReader(clock: Clock): ReadYaml {
  const fail = (why: string) =>
    newBadRequest(`the body of the request cannot be read as YAML: ${why}; send it as JSON`);
  const ask = inTurns(clock, 'read', fail);
  return async (text, user) => {
    const answer = await ask(text, user);
    if ('refusal' in answer) throw new TextError(answer.refusal);
    if (!('json' in answer)) throw fail('the thread has written it');
    return { value: parseJson(answer.json, false).value, duplicates: answer.duplicates };
  };
}

/** Writes texts for users in turn, as they are read. */
export function createYamlWriter(clock: Clock): WriteYaml {
  const fail = (why: string) =>
    newInternalError(`the answer cannot be written as YAML: ${why}; ask for JSON`);
  const ask = inTurns(clock, 'write', fail);
  return async (text, user) => {
    const answer = await ask(text, user);
    if ('yaml' in answer) return answer.yaml;
    throw fail('refusal' in answer ? answer.refusal : 'the thread has read it');
  };
}

type Fail = (why: string) => StatusError;

function inTurns(
  clock: Clock,
  type: YamlTask['type'],
  fail: Fail,
): (text: string, user: string) => Promise<YamlAnswer> {
  const lines = { short: new AskerTurns(), long: new AskerTurns() };
  const waiting = new WaitingTexts();
  return async (text, user) => {
    const isShort = text.length <= short;
    const leave = waiting.enter(user, text.length);
    try {
      const patience = isShort ? shortPatienceMs : patienceMs;
      return await lines[isShort ? 'short' : 'long'].inTurn(user, () =>
        onThread({ type, text }, clock, patience, fail),
      );
    } finally {
      leave();
    }
  };
}

/** Counts by user what waits or is being read or written. */
class WaitingTexts {
  readonly #byUser = new Map<string, { texts: number; characters: number }>();

  /** Throws TooManyRequests when the user has too much already. Returns how to leave. */
  enter(user: string, characters: number): () => void {
    const own = this.#byUser.get(user) ?? { texts: 0, characters: 0 };
    if (
      own.texts >= mostWaiting.texts ||
      (own.texts > 0 && own.characters + characters > mostWaiting.characters)
    )
      throw newStatusError(
        'TooManyRequests',
        `too much YAML of the user waits already (${own.texts} texts): send less at once, or send JSON`,
        { retryAfterSeconds },
      );
    own.texts++;
    own.characters += characters;
    this.#byUser.set(user, own);
    return () => {
      own.texts--;
      own.characters -= characters;
      if (own.texts === 0) this.#byUser.delete(user);
    };
  }
}

async function onThread(task: YamlTask, clock: Clock, patience: number, failure: Fail): Promise<YamlAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<YamlAnswer>();
  const fail = (why: string) => reject(failure(why));
  const resourceLimits = { maxOldGenerationSizeMb: mostMemory };
  const worker = startThread('yaml-worker', source, { workerData: task, resourceLimits });
  worker.once('message', resolve).once('error', (error) => fail(errorMessage(error)));
  const late = clock.after(patience, () => fail(`it took longer than ${patience / 1000} s`));
  try {
    return await promise;
  } finally {
    late.cancel();
    void worker.terminate();
  }
}
