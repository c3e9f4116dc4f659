/** Sends spans to a collector: OTLP over HTTP, in JSON. */
import { hostname } from 'node:os';
import { errorMessage } from '../log.ts';
import { trustPublicAuthorities } from '../public-authorities.ts';
import { version } from '../version.ts';
import { otlpRefused, otlpRequest } from './otlp.ts';
import type { SendSpans } from './span-queue.ts';

/** Status codes after which the collector may accept the spans later (OTLP, "Failures"). */
const passing: readonly number[] = [408, 429, 502, 503, 504];
/** Maximum bytes of a response that are read. */
const maxAnswerLength = 16 * 1024;

export function otlpSender(endpoint: URL): SendSpans {
  if (endpoint.protocol === 'https:') trustPublicAuthorities();
  const host = hostname();
  return async (spans, signal) => {
    const body = otlpRequest(spans, host, version());
    const headers = { 'content-type': 'application/json' };
    const answer = await post(endpoint, { method: 'POST', headers, body, signal, redirect: 'error' });
    const text = await beginningOf(answer);
    if (answer.ok) return otlpRefused(text);
    const why = `${endpoint.origin} answered ${answer.status}`;
    if (passing.includes(answer.status)) throw new Error(why);
    return { count: spans.length, why };
  };
}

/** Posts a request. The reason of a failure is in the cause of fetch's error. */
async function post(endpoint: URL, request: RequestInit): Promise<Response> {
  try {
    return await fetch(endpoint, request);
  } catch (error) {
    const why = errorMessage(error instanceof TypeError && error.cause ? error.cause : error);
    throw new Error(`no answer from ${endpoint.origin}: ${why}`);
  }
}

async function beginningOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxAnswerLength) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}
