/**
 * Spans in OTLP's JSON format (opentelemetry-proto, ExportTraceServiceRequest), and the parser of its
 * response. Pure.
 */
import type { Attributes, FinishedSpan, SpanKind } from './span.ts';

const kinds: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const failed = { code: 2 };
const sampledFlag = 1;

/**
 * Returns a request. Each part of the cluster is a resource, which collectors show as a service; `host` is
 * the machine.
 */
export function otlpRequest(spans: readonly FinishedSpan[], host: string, version: string): string {
  const resourceSpans = [...Map.groupBy(spans, ({ service }) => service)].map(([service, own]) => ({
    resource: { attributes: attributesOf({ 'service.name': service, 'host.name': host }) },
    scopeSpans: [{ scope: { name: 'minik8s', version }, spans: own.map(spanOf) }],
  }));
  return JSON.stringify({ resourceSpans });
}

function spanOf({ name, kind, context, parent, link, from, to, attributes, error }: FinishedSpan) {
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(parent !== undefined && { parentSpanId: parent }),
    flags: sampledFlag,
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanoseconds(from),
    endTimeUnixNano: nanoseconds(to),
    attributes: attributesOf(attributes),
    ...(link && { links: [{ traceId: link.traceId, spanId: link.spanId }] }),
    ...(error !== undefined && { status: { ...failed, message: error } }),
  };
}

/**
 * Returns nanoseconds as text, since a JavaScript number cannot hold them; the resolution is a microsecond.
 */
const nanoseconds = (ms: number): string => `${BigInt(Math.round(ms * 1000)) * 1000n}`;

const attributesOf = (attributes: Attributes) =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValue(value) }],
  );

function anyValue(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/**
 * Returns the number of spans that a collector rejected while it accepted the others, and the reason. A
 * response that cannot be parsed rejects none.
 */
export function otlpRefused(text: string): { readonly count: number; readonly why: string } {
  try {
    const { rejectedSpans = 0, errorMessage = '' } = JSON.parse(text || '{}').partialSuccess ?? {};
    const count = Number(rejectedSpans);
    return { count: Math.max(count, 0) || 0, why: `the collector refused them: ${shown(errorMessage)}` };
  } catch {
    return { count: 0, why: '' };
  }
}

/** Maximum characters of a message, which `ctl` prints unchanged. */
const maxMessageLength = 256;

const shown = (message: unknown) => String(message).replace(/\p{C}/gu, ' ').slice(0, maxMessageLength);
