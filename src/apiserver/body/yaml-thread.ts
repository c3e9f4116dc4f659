/**
 * Parses and serializes YAML on a separate thread: a YAML parser takes a hundred times as long as a JSON
 * parser, and far longer for some texts, which cannot be detected beforehand. Hardly any client sends YAML,
 * so the thread begins and ends with the text. Users take turns, short texts have a queue of their own, and
 * the number of queued texts of one user is limited.
 */
import { type ParsedText, parseJson } from '../../apimachinery/json-decode.ts';
import {
  newBadRequest,
  newInternalError,
  newStatusError,
  type StatusError,
} from '../../apimachinery/status-error.ts';
import { TextError } from '../../apimachinery/value-limit.ts';
import { AskerTurns } from '../../base/asker-turns.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import { startThread } from '../../os/thread.ts';

/** Task of the thread: `text` is YAML to be parsed, or JSON to be serialized as YAML. */
export interface YamlTask {
  readonly type: 'read' | 'write';
  readonly text: string;
}

/** Answer of the thread. */
export type YamlAnswer =
  | ({ readonly json: string } & Pick<ParsedText, 'duplicates' | 'repeats'>)
  | { readonly yaml: string }
  | { readonly refusal: string };

/** Parses a YAML text. `user` is the name of the user whose texts share a queue. */
export type ReadYaml = (text: string, user: string) => Promise<ParsedText>;
/** Serializes JSON as YAML. Rejects with a StatusError. */
export type WriteYaml = (json: string, user: string) => Promise<string>;

/** Timeout in milliseconds. A valid text of three megabytes takes two seconds. */
const patienceMs = 10_000;
/** Megabytes of heap. */
const maxMemory = 256;
/**
 * Maximum number of characters of a short text. A valid one takes less than 100 ms, so it must not wait for
 * seconds behind a long one.
 */
const short = 64 * 1024;
const shortPatienceMs = 5000;
/**
 * Maximum number of texts and characters of one user that are queued or being parsed: as many as a few bodies
 * of maximum size.
 */
const maxWaiting = { texts: 16, characters: 10 * 1024 * 1024 };
const retryAfterSeconds = 2;

const source = new URL('./yaml-worker.ts', import.meta.url);

/**
 * Returns a parser of texts, which takes users in turns. It rejects with TextError for invalid YAML, with a
 * StatusError for a text that takes too long or too much memory, and with TooManyRequests for a user with too
 * many queued texts.
 */
export function createYamlReader(clock: Clock): ReadYaml {
  const fail = (why: string) =>
    newBadRequest(`the body of the request cannot be read as YAML: ${why}; send it as JSON`);
  const ask = inTurns(clock, 'read', fail);
  return async (text, user) => {
    const answer = await ask(text, user);
    if ('refusal' in answer) throw new TextError(answer.refusal);
    if (!('json' in answer)) throw fail('the parser gave no value');
    const { json, ...keys } = answer;
    return { value: parseJson(json, false).value, ...keys };
  };
}

/** Returns a serializer, which takes users in turns like the parser. */
export function createYamlWriter(clock: Clock): WriteYaml {
  const fail = (why: string) =>
    newInternalError(`the answer cannot be written as YAML: ${why}; ask for JSON`);
  const ask = inTurns(clock, 'write', fail);
  return async (text, user) => {
    const answer = await ask(text, user);
    if ('yaml' in answer) return answer.yaml;
    throw fail('refusal' in answer ? answer.refusal : 'the serializer gave no text');
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

/** Counts, by user, the texts that are queued or being processed. */
class WaitingTexts {
  readonly #byUser = new Map<string, { texts: number; characters: number }>();

  /**
   * Throws TooManyRequests if the user has too many texts already. Returns a function that removes the text.
   */
  enter(user: string, characters: number): () => void {
    const own = this.#byUser.get(user) ?? { texts: 0, characters: 0 };
    if (
      own.texts >= maxWaiting.texts ||
      (own.texts > 0 && own.characters + characters > maxWaiting.characters)
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
  const resourceLimits = { maxOldGenerationSizeMb: maxMemory };
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
