/** Traces of a role, as its settings ask for them. */
import type { ProcessContext } from './process-context.ts';
import type { Settings } from './settings/settings.ts';
import type { tracingSettingNames } from './settings/tracing-settings.ts';

/** Milliseconds in which the last spans are sent at the end. */
const closingMs = 2_000;

/**
 * The tracer, whose last spans are sent when the stack is unwound; empty without --tracing-endpoint, and then nothing of it is
 * loaded.
 */
export async function openTracing(
  settings: Settings<(typeof tracingSettingNames)[number]>,
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
