/**
 * YAML is read and written on a thread of its own: its parser takes a hundred times as long as that of JSON, for some texts far
 * longer, and nobody can tell from a text before. Hardly any client sends it, so the thread begins and ends with the text.
 */
import { type ParsedText, parseJson } from '../apimachinery/json-decode.ts';
import { newBadRequest, newInternalError, type StatusError } from '../apimachinery/status-error.ts';
import { TextError } from '../apimachinery/value-limit.ts';
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

export type ReadYaml = (text: string) => Promise<ParsedText>;
/** Rejects with a StatusError. */
export type WriteYaml = (json: string) => Promise<string>;

/** An honest text of three megabytes takes two seconds. */
const patienceMs = 10_000;
/** Megabytes of heap. */
const mostMemory = 256;

const source = new URL('./yaml-worker.ts', import.meta.url);

/** Reads one text after the other. Rejects with TextError, or with a StatusError for one that costs too much. */
export function createYamlReader(clock: Clock): ReadYaml {
  const fail = (why: string) =>
    newBadRequest(`the body of the request cannot be read as YAML: ${why}; send it as JSON`);
  const ask = oneByOne(clock, 'read', fail);
  return async (text) => {
    const answer = await ask(text);
    if ('refusal' in answer) throw new TextError(answer.refusal);
    if (!('json' in answer)) throw fail('the thread has written it');
    return { value: parseJson(answer.json, false).value, duplicates: answer.duplicates };
  };
}

/** Writes one text after the other. */
export function createYamlWriter(clock: Clock): WriteYaml {
  const fail = (why: string) =>
    newInternalError(`the answer cannot be written as YAML: ${why}; ask for JSON`);
  const ask = oneByOne(clock, 'write', fail);
  return async (text) => {
    const answer = await ask(text);
    if ('yaml' in answer) return answer.yaml;
    throw fail('refusal' in answer ? answer.refusal : 'the thread has read it');
  };
}

type Fail = (why: string) => StatusError;

function oneByOne(clock: Clock, type: YamlTask['type'], fail: Fail): (text: string) => Promise<YamlAnswer> {
  let last: Promise<unknown> = Promise.resolve();
  return (text) => {
    const answered = last.then(() => onThread({ type, text }, clock, fail));
    last = answered.catch(() => undefined);
    return answered;
  };
}

async function onThread(task: YamlTask, clock: Clock, failure: Fail): Promise<YamlAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<YamlAnswer>();
  const fail = (why: string) => reject(failure(why));
  const resourceLimits = { maxOldGenerationSizeMb: mostMemory };
  const worker = startThread('yaml-worker', source, { workerData: task, resourceLimits });
  worker.once('message', resolve).once('error', (error) => fail(errorMessage(error)));
  const late = clock.after(patienceMs, () => fail(`it took longer than ${patienceMs / 1000} s`));
  try {
    return await promise;
  } finally {
    late.cancel();
    void worker.terminate();
  }
}
