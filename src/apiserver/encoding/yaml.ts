/** Answers in YAML, converted from JSON outside the main thread. Only interactive clients request it. */
import { newStatusError } from '../../apimachinery/status-error.ts';
import { yamlType } from '../negotiation/accept.ts';
import { respond } from '../respond.ts';

/** Maximum size of the JSON in bytes: its conversion takes the thread about a second. */
const maxBytes = 4 << 20;

/** Converts an answer. Throws 406 for an answer that is too long. */
export async function inYaml(answer: Response, write: (json: string) => Promise<string>): Promise<Response> {
  const { 'content-length': _, ...headers } = Object.fromEntries(answer.headers);
  const json = await textOf(answer);
  return respond(answer.status, await write(json), { ...headers, 'content-type': yamlType });
}

async function textOf(answer: Response): Promise<string> {
  const decoder = new TextDecoder();
  let size = 0;
  let text = '';
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) {
      const why = `the answer has more than ${maxBytes >> 20} MiB, which is not written in YAML: ask for JSON, or for pages (limit)`;
      throw newStatusError('NotAcceptable', why);
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
