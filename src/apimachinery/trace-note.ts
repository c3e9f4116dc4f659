/**
 * The annotation that names the trace in which an object was written, so that a controller that acts on the
 * object continues that trace. Pure.
 */
import type { KubeObject } from './meta.ts';

/**
 * The value has the form of the header `traceparent`. Only the API server sets it: a client's value is
 * dropped.
 */
export const traceAnnotation = 'minik8s.io/traceparent';

export const traceNoteOf = ({ metadata }: KubeObject): string | undefined =>
  metadata.annotations?.[traceAnnotation];

/** Changes `object`, whose annotations may be shared and are therefore copied; undefined removes the note. */
export function setTraceNote(object: KubeObject, note: string | undefined): void {
  const { metadata } = object;
  if (traceNoteOf(object) === note) return;
  const { [traceAnnotation]: _, ...others } = metadata.annotations ?? {};
  if (note !== undefined) metadata.annotations = { ...others, [traceAnnotation]: note };
  else if (Object.keys(others).length > 0) metadata.annotations = others;
  else delete metadata.annotations;
}
