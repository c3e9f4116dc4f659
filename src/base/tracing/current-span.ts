/**
 * The current span of running code, also across awaits. There is none when nothing is traced; a check is then
 * cheap.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Attributes, Span } from './span.ts';

const current = new AsyncLocalStorage<Span>();

/** Returns the current span. Work that outlives its span belongs to the enclosing span. */
export const currentSpan = (): Span | undefined => current.getStore()?.living;

/** Runs `work` outside any span, for work that does not belong to the operation that triggered it. */
export const apart = <T>(work: () => T): T => current.exit(work);

/** Returns `work` bound to the current span, for a queue that runs it later in another context. */
export const withinNow = <T>(work: () => T): (() => T) => AsyncLocalStorage.bind(work);

/** Runs `work` within the span and leaves the span open. */
export const inSpan = <T>(span: Span, work: () => T): T => current.run(span, work);

/** Runs `work` within the span and ends the span afterwards. */
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

/** Returns the kind of an error without its message, which may contain a user's data. */
export function errorKind(error: unknown): string {
  const { name, reason, code } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const words = [name, reason, code].filter((word) => typeof word === 'string' && word !== '');
  return words.join(' ') || 'Error';
}

/** Runs synchronous work within a new child span, if the current span is recorded. */
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

/** Runs `work` within a new child span, if the current span is recorded. */
export function inChildSpan<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  const span = currentSpan();
  return span?.context.sampled ? during(span.child(name, { attributes }), work) : work();
}
