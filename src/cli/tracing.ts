/**
 * A command as a span: where the standard variables of OpenTelemetry name a collector, or say in which trace the command runs. Without
 * them nothing of this is loaded.
 */
import { errorMessage, type Logger, silentLogger } from '../base/log.ts';
import { share } from '../base/share.ts';
import { during } from '../base/tracing/current-span.ts';
import { tracesUrl } from '../base/tracing/endpoint.ts';
import { formatTraceparent, parseTraceparent, traceparentHeader } from '../base/tracing/trace-context.ts';
import type { Io } from './io.ts';

/** Milliseconds that a command waits at its end for a collector. */
const closingMs = 1_000;

const variables = {
  endpoint: 'OTEL_EXPORTER_OTLP_ENDPOINT',
  rate: 'OTEL_TRACES_SAMPLER_ARG',
  parent: 'TRACEPARENT',
} as const;

/** Does the work of the command `name` as a span; just so where no collector is named. */
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

/** The header by which requests are of the trace that the environment names, where no span of this process is. */
export function traceHeaders({ env }: Pick<Io, 'env'>): Readonly<Record<string, string>> {
  const parent = parseTraceparent(env[variables.parent]);
  return parent ? { [traceparentHeader]: formatTraceparent(parent) } : {};
}

/** Undefined where there is no collector. A variable that cannot be used is told of, and the command is not traced. */
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
