/** Answers as bytes. Every body is made once, with its length, unless it is a stream. */
import type { Status } from '../apimachinery/status-error.ts';
import { WholeAnswer } from './whole-answer.ts';

export type Headers = Readonly<Record<string, string>>;
export type Body = string | Uint8Array | ReadableStream<Uint8Array> | null;

export const respond = (status: number, body: Body, headers: Headers): Response =>
  typeof body === 'string' || body instanceof Uint8Array
    ? new WholeAnswer(status, body, headers)
    : new Response(body, { status, headers });

export const jsonType = { 'content-type': 'application/json' };

export function respondJson(status: number, value: unknown, headers: Headers = {}): Response {
  const body = typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value);
  return respond(status, body, { ...headers, ...jsonType });
}

export const respondText = (status: number, text: string, headers: Headers = {}): Response =>
  respond(status, text, { ...headers, 'content-type': 'text/plain; charset=utf-8' });

export const respondStatus = (status: Status, headers: Headers = {}): Response =>
  respondJson(status.code, status, { ...headers, ...retryHeader(status) });

/** When the client may try again, where the Status says so. */
export function retryHeader({ details }: Status): Headers {
  const retry = details?.retryAfterSeconds;
  return retry === undefined ? {} : { 'retry-after': String(retry) };
}

/** Printable ASCII as it stands, the rest escaped: header values hold neither line breaks nor other scripts. */
const headerText = (text: string) =>
  text
    .replace(/["\\]/g, (char) => `\\${char}`)
    .replace(/[^\x20-\x7e]/g, (char) => (/\s/.test(char) ? ' ' : '?'));

/** Characters of all warnings together; and of each one, when they are more (k8s.io/apiserver filters/warning.go). */
const mostWarned = 4096;
const mostOfOne = 256;

function bounded(warnings: readonly string[]): readonly string[] {
  let size = warnings.reduce((sum, text) => sum + text.length, 0);
  if (size <= mostWarned) return warnings;
  size = 0;
  const kept: string[] = [];
  for (const text of warnings) {
    if (size >= mostWarned) break;
    const shown = text.slice(0, mostOfOne);
    size += shown.length;
    kept.push(shown);
  }
  return kept;
}

/** The Warning header; kubectl prints each as a line (RFC 7234 §5.5, code 299). */
export function warningHeader(warnings: readonly string[]): Headers {
  if (warnings.length === 0) return {};
  return {
    warning: bounded(warnings)
      .map((text) => `299 - "${headerText(text)}"`)
      .join(', '),
  };
}
