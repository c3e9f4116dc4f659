/** Answers as bytes. Every body is encoded once, with its length, unless it is a stream. */
import type { Status } from '../apimachinery/status-error.ts';
import { WholeAnswer } from './transport/whole-answer.ts';

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

/** Returns the retry-after header, if the Status has a retry time. */
export function retryHeader({ details }: Status): Headers {
  const retry = details?.retryAfterSeconds;
  return retry === undefined ? {} : { 'retry-after': String(retry) };
}

/**
 * Escapes text for a header: quotes and backslashes are escaped, white space becomes a space, and other
 * characters outside printable ASCII become `?`.
 */
const headerText = (text: string) =>
  text
    .replace(/["\\]/g, (char) => `\\${char}`)
    .replace(/[^\x20-\x7e]/g, (char) => (/\s/.test(char) ? ' ' : '?'));

/**
 * Maximum number of characters of all warnings together, and of each one if they exceed it (k8s.io/apiserver
 * filters/warning.go).
 */
const maxWarned = 4096;
const maxOfOne = 256;

function bounded(warnings: readonly string[]): readonly string[] {
  let size = warnings.reduce((sum, text) => sum + text.length, 0);
  if (size <= maxWarned) return warnings;
  size = 0;
  const kept: string[] = [];
  for (const text of warnings) {
    if (size >= maxWarned) break;
    const shown = text.slice(0, maxOfOne);
    size += shown.length;
    kept.push(shown);
  }
  return kept;
}

/** Returns the Warning header; kubectl prints each warning as a line (RFC 7234 §5.5, code 299). */
export function warningHeader(warnings: readonly string[]): Headers {
  if (warnings.length === 0) return {};
  return {
    warning: bounded(warnings)
      .map((text) => `299 - "${headerText(text)}"`)
      .join(', '),
  };
}
