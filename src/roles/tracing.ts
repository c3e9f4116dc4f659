/** Tracing of a role, from its settings. */
import type { ProcessContext } from './process-context.ts';
import type { Settings } from './settings/setting-table.ts';

/** Milliseconds for sending the last spans at the end. */
const closingMs = 2_000;

/**
 * Returns the tracer; its last spans are sent when the stack is unwound. Returns an empty object without
 * --tracing-endpoint, and then loads none of the tracing code.
 */
export async function openTracing(
  settings: Settings<'tracing-endpoint' | 'tracing-sampling-rate'>,
  context: ProcessContext,
  stack: AsyncDisposableStack,
): Promise<Pick<ProcessContext, 'tracer'>> {
  const { 'tracing-endpoint': endpoint, 'tracing-sampling-rate': rate } = settings;
  if (endpoint === undefined) return {};
  const { openTracer } = await import('../base/tracing/open-tracer.ts');
  const { tracer, close } = openTracer({ ...context, endpoint, rate });
  stack.defer(() => close(closingMs));
  return { tracer };
}
