/**
 * YAML is read on a thread of its own: its parser takes a hundred times as long as that of JSON, for some texts far longer,
 * and nobody can tell from a text before. Hardly any client sends it, so the thread begins and ends with the text.
 */
import { type ParsedText, parseJson } from '../apimachinery/json-decode.ts';
import { newBadRequest } from '../apimachinery/status-error.ts';
import { TextError } from '../apimachinery/value-limit.ts';
import type { Clock } from '../base/clock.ts';
import { errorMessage } from '../base/log.ts';
import { startThread } from '../base/thread.ts';

/** What the thread answers to a text. */
export type YamlAnswer =
  | { readonly json: string; readonly duplicates: readonly string[] }
  | { readonly refusal: string };

export type ReadYaml = (text: string) => Promise<ParsedText>;

/** An honest text of three megabytes takes two seconds. */
const patienceMs = 10_000;
/** Megabytes of heap. */
const mostMemory = 256;

const source = new URL('./yaml-worker.ts', import.meta.url);

/** Reads one text after the other. Rejects with TextError, or with a StatusError for one that costs too much. */
export function createYamlReader(clock: Clock): ReadYaml {
  let last: Promise<unknown> = Promise.resolve();
  return async (text) => {
    const reading = last.then(() => readOnThread(text, clock));
    last = reading.catch(() => undefined);
    const answer = await reading;
    if ('refusal' in answer) throw new TextError(answer.refusal);
    return { value: parseJson(answer.json, false).value, duplicates: answer.duplicates };
  };
}

async function readOnThread(text: string, clock: Clock): Promise<YamlAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<YamlAnswer>();
  const fail = (why: string) =>
    reject(newBadRequest(`the body of the request cannot be read as YAML: ${why}; send it as JSON`));
  const resourceLimits = { maxOldGenerationSizeMb: mostMemory };
  const worker = startThread('yaml-worker', source, { workerData: text, resourceLimits });
  worker.once('message', resolve).once('error', (error) => fail(errorMessage(error)));
  const late = clock.after(patienceMs, () => fail(`it took longer than ${patienceMs / 1000} s`));
  try {
    return await promise;
  } finally {
    late.cancel();
    void worker.terminate();
  }
}
