/** The annotation by which an object says in which trace it was written, so that whoever acts on it goes on in that trace. Pure. */
import type { KubeObject } from './meta.ts';

/** Its value is that of the header `traceparent`. It is the API server's: what a writer sends is not kept. */
export const traceAnnotation = 'minik8s.io/traceparent';

export const traceNoteOf = ({ metadata }: KubeObject): string | undefined =>
  metadata.annotations?.[traceAnnotation];

/** Changes `object`, whose annotations may be another's too; undefined takes the note away. */
export function setTraceNote(object: KubeObject, note: string | undefined): void {
  const { metadata } = object;
  if (traceNoteOf(object) === note) return;
  const { [traceAnnotation]: _, ...others } = metadata.annotations ?? {};
  if (note !== undefined) metadata.annotations = { ...others, [traceAnnotation]: note };
  else if (Object.keys(others).length > 0) metadata.annotations = others;
  else delete metadata.annotations;
}
