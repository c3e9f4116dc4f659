/**
 * Traces a command as a span if OTEL_EXPORTER_OTLP_ENDPOINT names a collector; without it, the code that
 * sends spans is not loaded. TRACEPARENT makes the command, or its requests if it has no span, part of a
 * trace.
 */
import { errorMessage, type Logger, silentLogger } from '../base/log.ts';
import { during } from '../base/tracing/current-span.ts';
import { tracesUrl } from '../base/tracing/endpoint.ts';
import { share } from '../base/tracing/share.ts';
import { formatTraceparent, parseTraceparent, traceparentHeader } from '../base/tracing/trace-context.ts';
import type { Io } from './io.ts';

/** Maximum time in milliseconds that a command waits for a collector at its end. */
const closingMs = 1_000;

const variables = {
  endpoint: 'OTEL_EXPORTER_OTLP_ENDPOINT',
  rate: 'OTEL_TRACES_SAMPLER_ARG',
  parent: 'TRACEPARENT',
} as const;

/** Runs the work of the command `name` within a span, or without one if no collector is named. */
export async function tracedCommand(io: Io, name: string, work: () => Promise<void>): Promise<void> {
  const settings = settingsOf(io);
  if (!settings) return work();
  const { openTracer } = await import('../base/tracing/open-tracer.ts');
  const { clock, random } = io;
  const { tracer, close } = openTracer({ ...settings, clock, random, log: warningLog(io) });
  const parent = parseTraceparent(io.env[variables.parent]);
  try {
    await during(tracer.start('ctl', name, parent, { kind: 'client' }), work);
  } finally {
    await close(closingMs);
  }
}

/**
 * Returns the header that makes requests part of the trace in the environment, for requests without a span of
 * this process.
 */
export function traceHeaders({ env }: Pick<Io, 'env'>): Readonly<Record<string, string>> {
  const parent = parseTraceparent(env[variables.parent]);
  return parent ? { [traceparentHeader]: formatTraceparent(parent) } : {};
}

/** Returns undefined without a collector. An invalid variable is reported, and the command is not traced. */
function settingsOf({ env, err }: Io): { readonly endpoint: URL; readonly rate: number } | undefined {
  const { [variables.endpoint]: endpoint, [variables.rate]: rate } = env;
  if (!endpoint) return undefined;
  try {
    return {
      endpoint: read(variables.endpoint, endpoint, tracesUrl),
      rate: read(variables.rate, rate || '1', share),
    };
  } catch (error) {
    err(`warning: ${errorMessage(error)}; the command is not traced\n`);
    return undefined;
  }
}

function read<T>(variable: string, value: string, reader: (text: string) => T): T {
  try {
    return reader(value);
  } catch (error) {
    throw new Error(`${variable}: ${errorMessage(error)}`);
  }
}

function warningLog({ err }: Io): Logger {
  const log: Logger = {
    ...silentLogger,
    warn: (message, { why } = {}) => err(`warning: ${message}: ${why}\n`),
    named: () => log,
  };
  return log;
}
