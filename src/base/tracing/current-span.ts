/**
 * The span within which code runs, through everything that it awaits. Where nothing is traced there is none, and asking costs a look.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Attributes, Span } from './span.ts';

const current = new AsyncLocalStorage<Span>();

/** What a span that has ended left running in the background is of the one around it. */
export const currentSpan = (): Span | undefined => current.getStore()?.living;

/** Does `work` within no span: it serves others than whoever happened to begin it. */
export const apart = <T>(work: () => T): T => current.exit(work);

/** The same work, within the span of now also where others begin it: that of a queue does. */
export const withinNow = <T>(work: () => T): (() => T) => AsyncLocalStorage.bind(work);

/** Does `work` within the span, which goes on afterwards. */
export const inSpan = <T>(span: Span, work: () => T): T => current.run(span, work);

/** Does `work` within the span, which ends with it. */
export async function during<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await current.run(span, work);
  } catch (error) {
    span.fail(errorKind(error));
    throw error;
  } finally {
    span.end();
  }
}

/** What an error is, and not what it says: that may quote what a user wrote. */
export function errorKind(error: unknown): string {
  const { name, reason, code } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const words = [name, reason, code].filter((word) => typeof word === 'string' && word !== '');
  return words.join(' ') || 'Error';
}

/** The same for work that awaits nothing. */
export function inChildSpanNow<T>(name: string, work: () => T): T {
  const span = currentSpan();
  if (!span?.context.sampled) return work();
  const child = span.child(name);
  try {
    return current.run(child, work);
  } finally {
    child.end();
  }
}

/** Does `work` within a span of its own, where the current one is recorded. */
export function inChildSpan<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  const span = currentSpan();
  return span?.context.sampled ? during(span.child(name, { attributes }), work) : work();
}
